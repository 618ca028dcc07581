; options: flush
; Non-temporal stores are reported after they are made.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @stores(
; CHECK: store i64 %v, ptr %p, align 8, !nontemporal
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 8,
; CHECK: store <8 x i64> %w, ptr %p, align 64, !nontemporal
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 64,
; CHECK: call void @llvm.x86.movdir64b(ptr %p, ptr %q)
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 64,
; CHECK: call void @llvm.x86.directstore32
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 4,
; CHECK: call void @llvm.x86.sse2.maskmov.dqu
; CHECK: scute_shield_stream_stub{{.*}}(ptr %q, i64 16,
define void @stores(ptr %p, ptr %q, i64 %v, <8 x i64> %w, <16 x i8> %b) {
  store i64 %v, ptr %p, align 8, !nontemporal !0
  store <8 x i64> %w, ptr %p, align 64, !nontemporal !0
  call void @llvm.x86.movdir64b(ptr %p, ptr %q)
  call void @llvm.x86.directstore32(ptr %p, i32 1)
  call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> %b, <16 x i8> %b, ptr %q)
  ret void
}

; CHECK-LABEL: define void @assembly(
; CHECK: movntdq $1, ($0)
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 16,
; CHECK: vmovntps $1, 64($0)
; CHECK: scute_shield_stream_stub{{.*}}(ptr %{{.*}}, i64 32,
; CHECK: movdir64b ($1), $0
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 64,
; CHECK: movnti ${1:k}, ($0); sfence
; CHECK: scute_shield_stream_stub{{.*}}(ptr %p, i64 4,
; CHECK: scute_shield_fence_stub{{.*}}(i64 1,
define void @assembly(ptr %p, ptr %q, <2 x i64> %v, <8 x float> %w, i64 %i) {
  call void asm sideeffect "movntdq $1, ($0)", "r,x,~{memory}"(ptr %p, <2 x i64> %v)
  call void asm sideeffect "vmovntps $1, 64($0)", "r,x,~{memory}"(ptr %p, <8 x float> %w)
  call void asm sideeffect "movdir64b ($1), $0", "r,r,~{memory}"(ptr %p, ptr %q)
  call void asm sideeffect "movnti ${1:k}, ($0); sfence", "r,r,~{memory}"(ptr %p, i64 %i)
  ret void
}

declare void @llvm.x86.movdir64b(ptr, ptr)
declare void @llvm.x86.directstore32(ptr, i32)
declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)

!0 = !{i32 1}
