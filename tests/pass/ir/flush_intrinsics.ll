; options: flush
; An intrinsic becomes labelled assembly, which runs unless the runtime has dealt with the line.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @scute_shield_gate_of_image = external hidden global i64
; CHECK-LABEL: define void @clwb(
; CHECK: %[[A:.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT: %[[H:.*]] = load volatile i64, ptr @scute_shield_gate_of_image, align 8
; CHECK-NEXT: %[[C:.*]] = icmp ult i64 %[[A]], %[[H]]
; CHECK-NEXT: br i1 %[[C]], label %[[ASK:[^,]*]], label %[[DO:[^,]*]], !prof
; CHECK: [[ASK]]:
; CHECK-NEXT: %[[T:.*]] = call i64 asm sideeffect "call scute_shield_flush_stub", "={rax},{rdi},{rsi},{rdx},~{memory},~{dirflag},~{fpsr},~{flags}"(ptr %p, i64 1, ptr @scute.site)
; CHECK-NEXT: %[[N:.*]] = icmp eq i64 %[[T]], 0
; CHECK-NEXT: br i1 %[[N]], label %[[DO]], label %[[DONE:.*]]
; CHECK: [[DO]]:
; CHECK-NEXT: call void asm sideeffect ".pushsection scute_shield_flushes,\22a?\22,@progbits\0A.long 7713f-.\0A.popsection\0A7713: clwb $0", "*m,{{.*}}(ptr elementtype(i8) %p)
; CHECK: [[DONE]]:
; CHECK-NEXT: ret void
define void @clwb(ptr %p) {
  call void @llvm.x86.clwb(ptr %p)
  ret void
}

; CHECK-LABEL: define void @others(
; CHECK: scute_shield_flush_stub{{.*}}(ptr %p, i64 2,
; CHECK: 7713: clflushopt $0
; CHECK: scute_shield_flush_stub{{.*}}(ptr %p, i64 3,
; CHECK: 7713: clflush $0
; CHECK-NOT: @llvm.x86
; CHECK: ret void
define void @others(ptr %p) {
  call void @llvm.x86.clflushopt(ptr %p)
  call void @llvm.x86.sse2.clflush(ptr %p)
  ret void
}

; A function that reports something has no red zone: the stubs are called below its stack pointer.
; CHECK: attributes #{{[0-9]+}} = { noredzone }

declare void @llvm.x86.clwb(ptr)
declare void @llvm.x86.clflushopt(ptr)
declare void @llvm.x86.sse2.clflush(ptr)
