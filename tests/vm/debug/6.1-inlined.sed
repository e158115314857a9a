# SPDX-License-Identifier: GPL-2.0
# A function that mtag hooks is inlined into its only caller in that file; for the others it stays.
fs/exec.c	s/^void __set_task_comm(/__attribute__((always_inline)) &/
