// SPDX-License-Identifier: BSD-3-Clause
// A function in assembly at file scope.
#ifdef CONTROL
__asm__(".text\nkeep: ret\n");
#else
// refused: 'clwb' in assembly at file scope cannot be instrumented
__asm__(".text\nkeep: clwb (%rdi)\nret\n");
#endif
int nothing;
