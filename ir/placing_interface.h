// The interface of ops that put elements at other places. Apart from ir/interfaces.h, since few
// files need it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

#include "ir/placing_interface.h.inc"
