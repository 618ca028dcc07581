; options: detect
; Stores of the processor's intrinsics are reported: masked stores as if nothing was masked, and saved
; registers with the largest size that they may have.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @masked_ints(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 32,
; CHECK: call void @llvm.x86.avx2.maskstore.d.256
; CHECK: scute_shield_store_stub{{.*}}(ptr %q, i64 16,
; CHECK: call void @llvm.x86.avx2.maskstore.q
define void @masked_ints(ptr %p, ptr %q, <8 x i32> %m, <8 x i32> %v, <2 x i64> %n, <2 x i64> %w) #0 {
  call void @llvm.x86.avx2.maskstore.d.256(ptr %p, <8 x i32> %m, <8 x i32> %v)
  call void @llvm.x86.avx2.maskstore.q(ptr %q, <2 x i64> %n, <2 x i64> %w)
  ret void
}

; CHECK-LABEL: define void @masked_floats(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 32,
; CHECK: call void @llvm.x86.avx.maskstore.ps.256
; CHECK: scute_shield_store_stub{{.*}}(ptr %q, i64 16,
; CHECK: call void @llvm.x86.avx.maskstore.pd
define void @masked_floats(ptr %p, ptr %q, <8 x i32> %m, <8 x float> %v, <2 x i64> %n, <2 x double> %w) #0 {
  call void @llvm.x86.avx.maskstore.ps.256(ptr %p, <8 x i32> %m, <8 x float> %v)
  call void @llvm.x86.avx.maskstore.pd(ptr %q, <2 x i64> %n, <2 x double> %w)
  ret void
}

; CHECK-LABEL: define void @narrowed(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 32,
; CHECK: call void @llvm.x86.avx512.mask.pmov.db.mem.512
define void @narrowed(ptr %p, <16 x i32> %v, i16 %m) #0 {
  call void @llvm.x86.avx512.mask.pmov.db.mem.512(ptr %p, <16 x i32> %v, i16 %m)
  ret void
}

; CHECK-LABEL: define void @saved(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 512,
; CHECK: call void @llvm.x86.fxsave(
; CHECK: scute_shield_store_stub{{.*}}(ptr %q, i64 4096,
; CHECK: call void @llvm.x86.xsave(
define void @saved(ptr %p, ptr %q) #0 {
  call void @llvm.x86.fxsave(ptr %p)
  call void @llvm.x86.xsave(ptr %q, i32 0, i32 3)
  ret void
}

; The saved registers are unknown, or the tiles are among them.
; CHECK-LABEL: define void @saved_more(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 12288,
; CHECK: call void @llvm.x86.xsave64(
; CHECK: scute_shield_store_stub{{.*}}(ptr %q, i64 12288,
; CHECK: call void @llvm.x86.xsavec64(
define void @saved_more(ptr %p, ptr %q, i32 %m) #0 {
  call void @llvm.x86.xsave64(ptr %p, i32 0, i32 %m)
  call void @llvm.x86.xsavec64(ptr %q, i32 0, i32 262144)
  ret void
}

; CHECK-LABEL: define void @control(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 4,
; CHECK: call void @llvm.x86.sse.stmxcsr(
define void @control(ptr %p) #0 {
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  ret void
}

; A load is no store.
; CHECK-LABEL: define <8 x i32> @loaded(
; CHECK-NOT: scute_shield_store_stub
; CHECK: ret <8 x i32>
define <8 x i32> @loaded(ptr %p, <8 x i32> %m) #0 {
  %v = call <8 x i32> @llvm.x86.avx2.maskload.d.256(ptr %p, <8 x i32> %m)
  ret <8 x i32> %v
}

declare void @llvm.x86.avx2.maskstore.d.256(ptr, <8 x i32>, <8 x i32>)
declare void @llvm.x86.avx2.maskstore.q(ptr, <2 x i64>, <2 x i64>)
declare void @llvm.x86.avx.maskstore.ps.256(ptr, <8 x i32>, <8 x float>)
declare void @llvm.x86.avx.maskstore.pd(ptr, <2 x i64>, <2 x double>)
declare void @llvm.x86.avx512.mask.pmov.db.mem.512(ptr, <16 x i32>, i16)
declare void @llvm.x86.fxsave(ptr)
declare void @llvm.x86.xsave(ptr, i32, i32)
declare void @llvm.x86.xsave64(ptr, i32, i32)
declare void @llvm.x86.xsavec64(ptr, i32, i32)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare <8 x i32> @llvm.x86.avx2.maskload.d.256(ptr, <8 x i32>)

attributes #0 = { "target-features"="+avx512f,+avx2,+fxsr,+xsave,+xsavec" }
