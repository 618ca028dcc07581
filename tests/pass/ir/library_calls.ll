; options: detect
; Stores of functions of the C library are reported before the call; a string's length is computed
; first.
target triple = "x86_64-pc-linux-gnu"

declare i64 @read(i32, ptr, i64)
declare ptr @strcpy(ptr, ptr)
declare i64 @fread(ptr, i64, i64, ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare ptr @__memcpy_chk(ptr, ptr, i64, i64)
declare i64 @write(i32, ptr, i64)

; CHECK-LABEL: define void @reads(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %n,
; CHECK: call i64 @read(
; CHECK: ret void
define void @reads(ptr %p, i64 %n) {
  %a = call i64 @read(i32 0, ptr %p, i64 %n)
  ret void
}

; CHECK-LABEL: define void @copies(
; CHECK: %[[L:.*]] = call i64 @strlen(ptr %s)
; CHECK: %[[N:.*]] = add i64 %[[L]], 1
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %[[N]],
; CHECK: call ptr @strcpy(
; CHECK: ret void
define void @copies(ptr %p, ptr %s) {
  %a = call ptr @strcpy(ptr %p, ptr %s)
  ret void
}

; CHECK-LABEL: define void @items(
; CHECK: %[[N:.*]] = mul i64 %size, %count
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %[[N]],
; CHECK: call i64 @fread(
; CHECK: ret void
define void @items(ptr %p, i64 %size, i64 %count, ptr %file) {
  %a = call i64 @fread(ptr %p, i64 %size, i64 %count, ptr %file)
  ret void
}

; CHECK-LABEL: define void @checked(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 32,
; CHECK: @snprintf(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 %n,
; CHECK: call ptr @__memcpy_chk(
; CHECK: ret void
define void @checked(ptr %p, ptr %s, i64 %n) {
  %a = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %p, i64 32, ptr %s)
  %b = call ptr @__memcpy_chk(ptr %p, ptr %s, i64 %n, i64 -1)
  ret void
}

; Memory that it only reads, and memory on the stack, is not reported.
; CHECK-LABEL: define void @quiet(
; CHECK-NOT: scute_shield_store_stub
; CHECK: ret void
define void @quiet(ptr %p, ptr %s, i64 %n) {
  %here = alloca [64 x i8]
  %a = call i64 @write(i32 1, ptr %p, i64 %n)
  %b = call ptr @strcpy(ptr %here, ptr %s)
  ret void
}

; A function of the program's own that has such a name reports its stores itself.
; CHECK-LABEL: define void @own(
; CHECK-NOT: call i64 @strlen(
; CHECK: call ptr @stpcpy(
; CHECK: ret void
define void @own(ptr %p, ptr %s) {
  %a = call ptr @stpcpy(ptr %p, ptr %s)
  ret void
}
define ptr @stpcpy(ptr %p, ptr %s) noinline {
  ret ptr %p
}
