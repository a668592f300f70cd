// The generated parts of the interfaces of ops that walk an axis in order.
// SPDX-License-Identifier: Apache-2.0
#include "ir/order_interfaces.h"

#include "ir/order_interfaces.cpp.inc"
