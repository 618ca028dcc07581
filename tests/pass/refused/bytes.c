// SPDX-License-Identifier: BSD-3-Clause
// An instruction as bytes: clwb (%rax).
void f(char *p) {
#ifdef CONTROL
  __asm__ volatile("clwb (%%rax)" : : "a"(p) : "memory");
#else
  __asm__ volatile(".byte 0x66,0x0f,0xae,0x30"
                   :
                   : "a"(p)
                   : "memory");  // refused: bytes of '.byte' may be
#endif
}
