// SPDX-License-Identifier: BSD-3-Clause
// A function without a frame, in which nothing can be called.
#ifdef CONTROL
void f(char *p) {
  __asm__ volatile("clwb (%0)" : : "r"(p) : "memory");
}
#else
__attribute__((naked)) void f(char *p) {
  __asm__ volatile("clwb (%%rdi)"
                   :
                   : "D"(0L)
                   : "memory");  // refused: a naked function cannot be instrumented
}
#endif
