// The generated parts of the interfaces of ops whose window moves over pictures.
// SPDX-License-Identifier: Apache-2.0
#include "ir/window_interfaces.h"

#include "ir/window_interfaces.cpp.inc"
