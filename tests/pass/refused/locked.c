// SPDX-License-Identifier: BSD-3-Clause
// options: detect
// The store of a locked instruction is a store like others.
void f(long *p) {
#ifdef CONTROL
  __asm__ volatile("lock incq (%0)" : : "r"(p) : "memory");
#else
  __asm__ volatile("leaq 8(%0), %%rcx\n\tlock incq (%%rcx)"
                   :
                   : "r"(p)
                   : "rcx", "memory");  // refused: the address of 'incq' cannot be resolved
#endif
}
