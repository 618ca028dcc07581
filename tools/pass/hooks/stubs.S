/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stubs.S: the functions that instrumented code calls where its inlined test says that an address
 * may be a view's. A stub keeps every register except the flags (scute_shield_flush_stub: and rax,
 * its result), so that the code around it is compiled as if there were no call. It uses the stack
 * below rsp: the functions that call it have no red zone.
 *
 *   scute_shield_flush_stub    rdi address, rsi kind, rdx site; rax: not 0 if the instruction must
 *                              not be executed
 *   scute_shield_fence_stub    rdi kind, rsi site
 *   scute_shield_stream_stub   rdi address, rsi length, rdx site
 *   scute_shield_store_stub    likewise
 *   scute_shield_load_stub     likewise
 */

/* x87, SSE (with mxcsr), AVX, AVX-512. */
#define STATE_MASK 0xe7
/* The standard format of these ends at 2688; the compact one is shorter. */
#define STATE_SIZE 2688

#define GATE_LOW scute_shield_gate_of_image+8(%rip)
#define GATE_HOOKS scute_shield_gate_of_image+16(%rip)
#define GATE_SAVING scute_shield_gate_of_image+24(%rip)

  .hidden scute_shield_gate_of_image

.macro push_register register
  pushq \register
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \register, 0
.endm

.macro pop_register register
  popq \register
  .cfi_adjust_cfa_offset -8
  .cfi_restore \register
.endm

/* stub NAME SLOT BIT KIND: SLOT, BIT: of the table. KIND: fence (no address), flush (a line),
 * range. */
.macro stub name slot bit kind
  .text
  .p2align 4
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  .cfi_startproc
.ifc \kind, flush
  xorl %eax, %eax
  cmpq GATE_LOW, %rdi
  jb 9f
.endif
  push_register %rcx
.ifc \kind, range
  movq %rdi, %rcx
  addq %rsi, %rcx
  jc 7f
  cmpq GATE_LOW, %rcx
  jbe 8f
7:
.endif
  movq GATE_HOOKS, %rcx
  testq %rcx, %rcx
  je 8f
  cmpq $0, \slot(%rcx)
  je 8f
.ifnc \kind, flush
  push_register %rax
.endif
  push_register %rdx
  push_register %rsi
  push_register %rdi
  push_register %r8
  push_register %r9
  push_register %r10
  push_register %r11
  push_register %rbp
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  andq $-64, %rsp
  testb $\bit, 8(%rcx)
  jne 3f
  subq $STATE_SIZE, %rsp
  cmpq $1, GATE_SAVING
  jb 1f
  /* The header, of which neither instruction writes all. */
  movq $0, 512(%rsp)
  movq $0, 520(%rsp)
  movq $0, 528(%rsp)
  movq $0, 536(%rsp)
  movq $0, 544(%rsp)
  movq $0, 552(%rsp)
  movq $0, 560(%rsp)
  movq $0, 568(%rsp)
  movq %rdx, %r8
  movl $STATE_MASK, %eax
  xorl %edx, %edx
  cmpq $1, GATE_SAVING
  je 2f
  xsavec64 (%rsp)
  movq %r8, %rdx
  call *\slot(%rcx)
  jmp 4f
2:
  xsave64 (%rsp)
  movq %r8, %rdx
  call *\slot(%rcx)
4:
  movq %rax, %r8
  movl $STATE_MASK, %eax
  xorl %edx, %edx
  xrstor64 (%rsp)
  movq %r8, %rax
  jmp 5f
1:
  fxsave64 (%rsp)
  call *\slot(%rcx)
  fxrstor64 (%rsp)
  jmp 5f
3:
  call *\slot(%rcx)
5:
.ifc \kind, flush
  movl %eax, %eax
.endif
  movq %rbp, %rsp
  .cfi_def_cfa_register %rsp
  pop_register %rbp
  pop_register %r11
  pop_register %r10
  pop_register %r9
  pop_register %r8
  pop_register %rdi
  pop_register %rsi
  pop_register %rdx
.ifnc \kind, flush
  pop_register %rax
.endif
8:
  pop_register %rcx
9:
  ret
  .cfi_endproc
  .size \name, .-\name
.endm

/* x87 code may have values on the register stack and the processor in any state: a hook wants an
 * empty one. It uses neither x87 nor MMX (HOOK-7 is about vector registers), so there is nothing to
 * be done. */

  stub scute_shield_flush_stub, 16, 1, flush
  stub scute_shield_fence_stub, 24, 2, fence
  stub scute_shield_stream_stub, 32, 4, range
  stub scute_shield_store_stub, 40, 8, range
  stub scute_shield_load_stub, 48, 16, range

/* The section of the table of flushes exists in every image, so that its ends have symbols. */
  .section scute_shield_flushes, "a", @progbits
  .hidden __start_scute_shield_flushes
  .hidden __stop_scute_shield_flushes

  .section .note.scute.shield, "a", @note
  .p2align 2
  .long 6, 16, 2
  .asciz "Scute"
  .p2align 2
  .long 1
  .long scute_shield_gate_of_image - .
  .long __start_scute_shield_flushes - .
  .long __stop_scute_shield_flushes - .

  .section .note.GNU-stack, "", @progbits
