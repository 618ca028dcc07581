; options: flush
; Instructions that are fences on this processor, and others that are not.
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @fences(
; CHECK: %[[H:.*]] = load volatile i64, ptr @scute_shield_gate_of_image
; CHECK-NEXT: %[[C:.*]] = icmp ne i64 %[[H]], 0
; CHECK-NEXT: br i1 %[[C]], {{.*}}, !prof
; CHECK: scute_shield_fence_stub{{.*}}(i64 1,
; CHECK: call void @llvm.x86.sse.sfence()
; CHECK: scute_shield_fence_stub{{.*}}(i64 2,
; CHECK: call void @llvm.x86.sse2.mfence()
; CHECK: scute_shield_fence_stub{{.*}}(i64 2,
; CHECK: fence seq_cst
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @fences() {
  call void @llvm.x86.sse.sfence()
  call void @llvm.x86.sse2.mfence()
  fence seq_cst
  fence release
  fence acq_rel
  fence syncscope("singlethread") seq_cst
  call void @llvm.x86.sse2.lfence()
  ret void
}

; CHECK-LABEL: define i64 @locked(
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: atomicrmw add
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: cmpxchg
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: store atomic i64 1, ptr %p seq_cst
; CHECK-NOT: scute_shield
; CHECK: ret i64
define i64 @locked(ptr %p) {
  %a = atomicrmw add ptr %p, i64 1 monotonic
  %b = cmpxchg ptr %p, i64 1, i64 2 monotonic monotonic
  store atomic i64 1, ptr %p seq_cst, align 8
  store atomic i64 1, ptr %p release, align 8
  %c = load atomic i64, ptr %p seq_cst, align 8
  ret i64 %c
}

; CHECK-LABEL: define void @assembly(
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: lock; addl
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: xchgq $0, ($1)
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @assembly(ptr %p, i64 %v) {
  call void asm sideeffect "lock; addl $$0, 0(%rsp)", "~{memory}"()
  call void asm sideeffect "xchgq $0, ($1)", "r,r,~{memory}"(i64 %v, ptr %p)
  call void asm sideeffect "xchgq %rax, %rcx", "~{rax},~{rcx}"()
  call void asm sideeffect "lfence; pause", "~{memory}"()
  call void asm sideeffect "", "~{memory}"()
  ret void
}

; Calls of the compiler's library, which has the locked instructions inside.
; CHECK-LABEL: define void @library(
; CHECK: scute_shield_fence_stub{{.*}}(i64 3,
; CHECK: call void @__atomic_store_16
define void @library(ptr %p, i128 %v) {
  call void @__atomic_store_16(ptr %p, i128 %v, i32 5)
  ret void
}

declare void @llvm.x86.sse.sfence()
declare void @llvm.x86.sse2.mfence()
declare void @llvm.x86.sse2.lfence()
declare void @__atomic_store_16(ptr, i128, i32)
