// SPDX-License-Identifier: BSD-3-Clause
// A register that no operand is bound to.
void f(char *p) {
#ifdef CONTROL
  __asm__ volatile("clflush (%%rbx)" : : "b"(p) : "memory");
#else
  (void)p;
  __asm__ volatile("clflush (%%rbx)" : : : "memory");  // refused: no operand says what is in '%rbx'
#endif
}
