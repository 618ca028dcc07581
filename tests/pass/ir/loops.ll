; options: detect
; A store that a loop repeats is reported once, before the loop: one address, or a walk in steps of at
; most a line.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @same(
; CHECK: entry:
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK: loop:
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @same(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  store volatile i64 %i, ptr %p
  %i2 = add nuw nsw i64 %i, 1
  %c = icmp eq i64 %i2, 100
  br i1 %c, label %done, label %loop
done:
  ret void
}

; CHECK-LABEL: define void @walk(
; CHECK: entry:
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 800,
; CHECK: loop:
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @walk(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  %a = getelementptr inbounds i64, ptr %p, i64 %i
  store i64 %i, ptr %a
  %i2 = add nuw nsw i64 %i, 1
  %c = icmp eq i64 %i2, 100
  br i1 %c, label %done, label %loop
done:
  ret void
}

; Downwards: the range begins at the lowest address.
; CHECK-LABEL: define void @down(
; CHECK: entry:
; CHECK: %[[LOW:.*]] = {{.*}}ptr %p, i64 -792
; CHECK: scute_shield_store_stub{{.*}}(ptr %[[LOW]], i64 800,
; CHECK: loop:
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @down(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  %a = getelementptr inbounds i64, ptr %p, i64 %i
  store i64 %i, ptr %a
  %i2 = add nsw i64 %i, -1
  %c = icmp eq i64 %i2, -100
  br i1 %c, label %done, label %loop
done:
  ret void
}

; Whole lines between the steps: the store is reported in the loop.
; CHECK-LABEL: define void @sparse(
; CHECK: loop:
; CHECK: scute_shield_store_stub{{.*}}(ptr %a, i64 8,
define void @sparse(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  %a = getelementptr inbounds [16 x i64], ptr %p, i64 %i
  store i64 %i, ptr %a
  %i2 = add nuw nsw i64 %i, 1
  %c = icmp eq i64 %i2, 100
  br i1 %c, label %done, label %loop
done:
  ret void
}

; A fence in the loop: the store is reported in the loop.
; CHECK-LABEL: define void @fencing(
; CHECK: loop:
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8,
; CHECK: scute_shield_fence_stub
define void @fencing(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  store i64 %i, ptr %p
  call void @llvm.x86.sse.sfence()
  %i2 = add nuw nsw i64 %i, 1
  %c = icmp eq i64 %i2, 100
  br i1 %c, label %done, label %loop
done:
  ret void
}

; Another node each time, under one name: the store is reported in the loop.
; CHECK-LABEL: define void @chain(
; CHECK: loop:
; CHECK: scute_shield_store_stub{{.*}}(ptr %n, i64 8,
; CHECK: store i64 1, ptr %n
define void @chain(ptr %first) {
entry:
  br label %loop
loop:
  %n = phi ptr [ %first, %entry ], [ %next, %loop ]
  store i64 1, ptr %n
  %at = getelementptr i8, ptr %n, i64 8
  %next = load ptr, ptr %at
  %c = icmp eq ptr %next, null
  br i1 %c, label %done, label %loop
done:
  ret void
}

declare void @llvm.x86.sse.sfence()
