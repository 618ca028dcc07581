; options: detect
; A module that has been instrumented is left alone.
target triple = "x86_64-pc-linux-gnu"

; CHECK-NOT: scute_shield
; CHECK-LABEL: define void @f(
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @f(ptr %p) {
  store i64 1, ptr %p
  ret void
}

!scute.shield = !{}
