// SPDX-License-Identifier: BSD-3-Clause
// Assembly with several ends.
int f(long *p) {
#ifdef CONTROL
  __asm__ volatile("lock incq (%0)" : : "r"(p) : "memory");
#else
  __asm__ goto("lock incq (%0)\n\tjz %l1"
               :
               : "r"(p)
               : "memory"
               : zero);  // refused: assembly that jumps or throws cannot be instrumented
#endif
  return 1;
  goto zero;
zero:
  return 0;
}
