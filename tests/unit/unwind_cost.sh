#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a walk of a user stack costs, in instructions: tests/unit/unwind/cost.c counts them.
cd "$(dirname "$(realpath "$0")")/../.." || exit
make -s build/tests/unit/unwind/cost >/dev/null 2>&1 || { echo 'Bail out! it does not build'; exit 1; }
exec build/tests/unit/unwind/cost
