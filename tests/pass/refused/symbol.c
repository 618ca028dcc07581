// SPDX-License-Identifier: BSD-3-Clause
// A symbol that the assembly names by itself.
char line[64];
void f(void) {
#ifdef CONTROL
  __asm__ volatile("clflush %0" : "+m"(line[0]));
#else
  __asm__ volatile("clflush line(%%rip)"
                   :
                   :
                   : "memory");  // refused: a displacement or a segment that is no number
#endif
}
