// SPDX-License-Identifier: BSD-3-Clause
// A non-temporal store whose length no operand gives.
void f(long *p) {
#ifdef CONTROL
  __asm__ volatile("movnti %%rcx, (%0)" : : "r"(p) : "memory");
#else
  __asm__ volatile("movnti %%cxx, (%0)"
                   :
                   : "r"(p)
                   : "memory");  // refused: the length of 'movnti' cannot be derived
#endif
}
