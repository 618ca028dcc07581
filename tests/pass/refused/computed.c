// SPDX-License-Identifier: BSD-3-Clause
// The address is made inside of the assembly.
void f(char *p, long n) {
#ifdef CONTROL
  __asm__ volatile("clwb (%0)" : : "r"(p + n) : "memory");
#else
  __asm__ volatile("addq %1, %0\n\tclwb (%0)"
                   : "+r"(p)
                   : "r"(n)
                   : "memory");  // refused: which the assembly may have changed before
#endif
}
