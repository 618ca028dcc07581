; options: detect
; PASS-2: a store that was reported on every path is not reported again.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @joined(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @joined(ptr %p, i1 %c) {
  store i64 0, ptr %p
  br i1 %c, label %a, label %b
a:
  store i64 1, ptr %p
  br label %b
b:
  store i64 2, ptr %p
  ret void
}

; CHECK-LABEL: define void @one_path(
; CHECK: a:
; CHECK: scute_shield_store_stub
; CHECK: b:
; CHECK: scute_shield_store_stub
; CHECK: ret void
define void @one_path(ptr %p, i1 %c) {
  br i1 %c, label %a, label %b
a:
  store i64 1, ptr %p
  br label %b
b:
  store i64 2, ptr %p
  ret void
}

; A path with a call on it: the store is reported again.
; CHECK-LABEL: define void @called(
; CHECK: scute_shield_store_stub
; CHECK: call void @other
; CHECK: b:
; CHECK: scute_shield_store_stub
; CHECK: ret void
define void @called(ptr %p, i1 %c) {
  store i64 0, ptr %p
  br i1 %c, label %a, label %b
a:
  call void @other()
  br label %b
b:
  store i64 2, ptr %p
  ret void
}

declare void @other()
