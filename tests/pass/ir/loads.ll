; options: loads
; Loads are reported, and stores are not.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@global = global i64 0

; CHECK-LABEL: define i64 @loads(
; CHECK: scute_shield_load_stub{{.*}}(ptr %p, i64 16,
; CHECK: load i64, ptr %p
; CHECK-NOT: scute_shield_load_stub{{.*}}@global
; CHECK: scute_shield_load_stub{{.*}}(ptr %q, i64 %n,
; CHECK: call void @llvm.memcpy
; CHECK: scute_shield_fence_stub
; CHECK: scute_shield_load_stub{{.*}}(ptr %p, i64 8,
; CHECK: atomicrmw
define i64 @loads(ptr %p, ptr %q, i64 %n) {
  %a = load i64, ptr %p
  %bp = getelementptr i8, ptr %p, i64 8
  %b = load i64, ptr %bp
  %g = load i64, ptr @global
  store i64 %g, ptr %q
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  %c = atomicrmw add ptr %p, i64 %b seq_cst
  ret i64 %a
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
