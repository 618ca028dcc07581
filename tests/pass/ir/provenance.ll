; options: detect
; Stores that cannot reach a file are not reported; uncertain ones are.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%item = type { i64, i64 }
@global = global i64 0
@table = global [8 x i64] zeroinitializer
@local = thread_local global i64 0

; CHECK-LABEL: define void @elsewhere(
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @elsewhere(i64 %i, i1 %c, ptr byval(%item) %copy) {
  %a = alloca [4 x i64]
  %e = getelementptr [4 x i64], ptr %a, i64 0, i64 %i
  store i64 1, ptr %e
  call void @use(ptr %a)
  store i64 1, ptr %e
  store i64 1, ptr @global
  %t = getelementptr [8 x i64], ptr @table, i64 0, i64 %i
  store i64 1, ptr %t
  %l = call ptr @llvm.threadlocal.address.p0(ptr @local)
  store i64 1, ptr %l
  %m = call ptr @malloc(i64 8)
  store i64 1, ptr %m
  %n = call ptr @_Znwm(i64 8)
  %either = select i1 %c, ptr %m, ptr %n
  store i64 1, ptr %either
  store i64 1, ptr %copy
  ret void
}

; CHECK-LABEL: define void @anywhere(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK: store i64 1, ptr %p
; CHECK: scute_shield_store_stub{{.*}}(ptr %either, i64 8,
; CHECK: store i64 2, ptr %either
; CHECK: scute_shield_store_stub{{.*}}(ptr %own, i64 8,
; CHECK: store i64 3, ptr %own
; CHECK: scute_shield_store_stub{{.*}}(ptr %marked, i64 8,
; CHECK: store i64 4, ptr %marked
define void @anywhere(ptr %p, i1 %c) {
  store i64 1, ptr %p
  %m = call ptr @malloc(i64 8)
  %either = select i1 %c, ptr %m, ptr %p
  store i64 2, ptr %either
  %own = call ptr @calloc(i64 1, i64 8)
  store i64 3, ptr %own
  %marked = call noalias ptr @pm_alloc(i64 8)
  store i64 4, ptr %marked
  ret void
}

; The module's own allocator, whatever its name.
define ptr @calloc(i64 %n, i64 %size) {
  %p = load ptr, ptr @table
  ret ptr %p
}

declare noalias ptr @malloc(i64)
declare noalias ptr @_Znwm(i64)
declare noalias ptr @pm_alloc(i64)
declare void @use(ptr)
declare ptr @llvm.threadlocal.address.p0(ptr)
