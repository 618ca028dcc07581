; options: detect
; One test for all stores of a block to one object, as long as no line lies between them. Calls and
; fences end it.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @neighbours(
; CHECK: ptrtoint ptr %p to i64
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 24,
; CHECK: store i64 1
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @neighbours(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 16
  %a = getelementptr i8, ptr %p, i64 8
  store i64 1, ptr %b
  store i64 2, ptr %p
  store i64 3, ptr %a
  ret void
}

; The test is of the object, and not of the address.
; CHECK-LABEL: define void @sides(
; CHECK: ptrtoint ptr %p to i64
; CHECK: %[[B:.*]] = getelementptr i8, ptr %p, i64 -8
; CHECK: scute_shield_store_stub{{.*}}(ptr %[[B]], i64 8,
; CHECK: ptrtoint ptr %q to i64
; CHECK: scute_shield_store_stub{{.*}}(ptr %{{.*}}, i64 8,
define void @sides(ptr %p, ptr %q) {
  %b = getelementptr i8, ptr %p, i64 -8
  store i64 1, ptr %b
  %a = getelementptr i8, ptr %q, i64 80
  store i64 1, ptr %a
  ret void
}

; A whole line lies between them: two ranges after one test. The second address is computed there.
; CHECK-LABEL: define void @apart(
; CHECK: ptrtoint ptr %p to i64
; CHECK: br i1
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK: %[[F:.*]] = getelementptr i8, ptr %p, i64 72
; CHECK: scute_shield_store_stub{{.*}}(ptr %[[F]], i64 8,
; CHECK: store i64 1
; CHECK-NOT: scute_shield
; CHECK: store i64 2
define void @apart(ptr %p) {
  store i64 1, ptr %p
  %far = getelementptr i8, ptr %p, i64 72
  store i64 2, ptr %far
  ret void
}

; CHECK-LABEL: define void @calls(
; CHECK: scute_shield_store_stub{{.*}}, i64 8,
; CHECK: store i64 1
; CHECK: call void @other
; CHECK: scute_shield_store_stub{{.*}}, i64 16,
; CHECK: store i64 2
; CHECK: call i64 @pure
; CHECK-NOT: scute_shield
; CHECK: store i64 3
; CHECK: scute_shield_fence_stub
; CHECK: scute_shield_store_stub{{.*}}, i64 8,
; CHECK: atomicrmw
define void @calls(ptr %p) {
  %a = getelementptr i8, ptr %p, i64 8
  store i64 1, ptr %p
  call void @other()
  store i64 2, ptr %p
  %x = call i64 @pure(i64 1)
  store i64 3, ptr %a
  %y = atomicrmw add ptr %p, i64 1 seq_cst
  ret void
}

; A flush does not end it.
; CHECK-LABEL: define void @flushes(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 16,
; CHECK: scute_shield_flush_stub
; CHECK: scute_shield_flush_stub
; CHECK-NOT: scute_shield_store_stub
; CHECK: ret void
define void @flushes(ptr %p) {
  store i64 1, ptr %p
  call void @llvm.x86.clwb(ptr %p)
  call void asm sideeffect "clwb ($0)", "r,~{memory}"(ptr %p)
  call void asm sideeffect "", "~{memory}"()
  %a = getelementptr inbounds i8, ptr %p, i64 8
  store i64 2, ptr %a
  ret void
}

; An index that the program computes later is computed where its store is reported. Bytes that another
; block stores to the object are reported there as well, if they are few.
; CHECK-LABEL: define void @ahead(
; CHECK: entry:
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 64,
; CHECK: %[[W:.*]] = zext i32 %i to i64
; CHECK: %[[A:.*]] = getelementptr i64, ptr %p, i64 %[[W]]
; CHECK: scute_shield_store_stub{{.*}}(ptr %[[A]], i64 8,
; CHECK: store i64 1
; CHECK-NOT: scute_shield_store_stub
; CHECK: call void @llvm.memset
define void @ahead(ptr %p, i32 %i, i1 %c) {
entry:
  store i64 1, ptr %p
  br i1 %c, label %a, label %b
a:
  %w = zext nneg i32 %i to i64
  %at = getelementptr inbounds i64, ptr %p, i64 %w
  store i64 2, ptr %at
  br label %b
b:
  %q = getelementptr inbounds i8, ptr %p, i64 8
  call void @llvm.memset.p0.i64(ptr %q, i8 0, i64 56, i1 false)
  ret void
}

; CHECK-LABEL: define void @copies(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %n,
; CHECK: %[[M:.*]] = zext i32 %m to i64
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %[[M]],
; CHECK: call void @llvm.memcpy
; CHECK: scute_shield_store_stub{{.*}}(ptr %q, i64 100,
; CHECK: call void @llvm.memset
; CHECK: call void @llvm.memmove
define void @copies(ptr %p, ptr %q, i64 %n, i32 %m) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %q, i8 0, i64 100, i1 false)
  call void @llvm.memmove.p0.p0.i32(ptr %p, ptr %q, i32 %m, i1 false)
  ret void
}

; The lanes of a scatter are reported, and a masked store as if nothing was masked.
; CHECK-LABEL: define void @vectors(
; CHECK: scute_shield_store_stub{{.*}}, i64 4,
; CHECK: scute_shield_store_stub{{.*}}, i64 4,
; CHECK: call void @llvm.masked.scatter
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK: call void @llvm.masked.store
define void @vectors(<2 x ptr> %ps, ptr %p, <2 x i32> %v, <2 x i1> %m) {
  call void @llvm.masked.scatter.v2i32.v2p0(<2 x i32> %v, <2 x ptr> %ps, i32 4, <2 x i1> %m)
  call void @llvm.masked.store.v2i32.p0(<2 x i32> %v, ptr %p, i32 4, <2 x i1> %m)
  ret void
}

declare void @other()
declare void @llvm.x86.clwb(ptr)
declare i64 @pure(i64) memory(none)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memmove.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.masked.scatter.v2i32.v2p0(<2 x i32>, <2 x ptr>, i32, <2 x i1>)
declare void @llvm.masked.store.v2i32.p0(<2 x i32>, ptr, i32, <2 x i1>)
