// SPDX-License-Identifier: BSD-3-Clause
// Relative to a segment whose base the pass does not know.
void f(long offset) {
#ifdef CONTROL
  __asm__ volatile("clflush (%0)" : : "r"(offset) : "memory");
#else
  __asm__ volatile("clflush %%gs:(%0)"
                   :
                   : "r"(offset)
                   : "memory");  // refused: a displacement or a segment that is no number
#endif
}
