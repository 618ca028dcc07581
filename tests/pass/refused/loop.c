// SPDX-License-Identifier: BSD-3-Clause
// Flushes in a loop of the assembly's own: the pass cannot know how many.
void f(char *p, long n) {
#ifdef CONTROL
  for (; n > 0; --n, p += 64) __asm__ volatile("clwb (%0)" : : "r"(p) : "memory");
#else
  __asm__ volatile("1: clwb (%0)\n\tdecq %1\n\tjnz 1b"
                   :
                   : "r"(p), "r"(n)
                   : "memory");  // refused: in assembly that jumps cannot be followed
#endif
}
