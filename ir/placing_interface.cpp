// The generated part of the interface of ops that put elements at other places.
// SPDX-License-Identifier: Apache-2.0
#include "ir/placing_interface.h"

#include "ir/placing_interface.cpp.inc"
