// SPDX-License-Identifier: BSD-3-Clause
// A store after a flush in one assembly: another thread may see it before the flush is reported.
void f(char *p, long *flag) {
#ifdef CONTROL
  __asm__ volatile("clwb (%0)" : : "r"(p) : "memory");
  __asm__ volatile("sfence" : : : "memory");
  __asm__ volatile("movq $1, (%0)" : : "r"(flag) : "memory");
#else
  __asm__ volatile("clwb (%0)\n\tsfence\n\tmovq $1, (%1)"
                   :
                   : "r"(p), "r"(flag)
                   : "memory");  // refused: 'movq' may store after a flush
#endif
}
