; options: flush
; Assembly with flushes. A flush alone can be left out. Among other instructions it runs, and is
; reported before; if the assembly stores as well, after.
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @alone(
; CHECK: call i64 asm sideeffect "call scute_shield_flush_stub"{{.*}}(ptr %p, i64 1,
; CHECK: br i1
; CHECK: .popsection\0A7713: .byte 0x66; xsaveopt $0"
define void @alone(ptr %p) {
  call void asm sideeffect ".byte 0x66; xsaveopt $0", "=*m,*m,~{flags}"(ptr elementtype(i8) %p, ptr elementtype(i8) %p)
  ret void
}

; CHECK-LABEL: define void @among(
; CHECK: %[[A:.*]] = getelementptr i8, ptr %p, i64 8
; CHECK: call void asm sideeffect "call scute_shield_fence_stub"{{.*}}(i64 2,
; CHECK: call i64 asm sideeffect "call scute_shield_flush_stub"{{.*}}(ptr %[[A]], i64 3,
; CHECK: call void asm sideeffect "call scute_shield_fence_stub"{{.*}}(i64 1,
; CHECK: call void asm sideeffect "mfence; .pushsection{{.*}}7713: clflush 8($0); sfence"
define void @among(ptr %p) {
  call void asm sideeffect "mfence; clflush 8($0); sfence", "r,~{memory}"(ptr %p)
  ret void
}

; CHECK-LABEL: define void @with_store(
; CHECK: call void asm sideeffect "movq $1, ($0)
; CHECK: call i64 asm sideeffect "call scute_shield_flush_stub"{{.*}}(ptr %p, i64 1,
; CHECK: call void asm sideeffect "call scute_shield_fence_stub"{{.*}}(i64 1,
define void @with_store(ptr %p, i64 %v) {
  call void asm sideeffect "movq $1, ($0)\0Aclwb ($0)\0Asfence", "r,r,~{memory}"(ptr %p, i64 %v)
  ret void
}

; CHECK-LABEL: define void @indexed(
; CHECK: %[[P:.*]] = ptrtoint ptr %p to i64
; CHECK: %[[S:.*]] = add i64 -16, %[[P]]
; CHECK: %[[M:.*]] = mul i64 %i, 4
; CHECK: %[[T:.*]] = add i64 %[[S]], %[[M]]
; CHECK: %[[A:.*]] = inttoptr i64 %[[T]] to ptr
; CHECK: scute_shield_flush_stub{{.*}}(ptr %[[A]], i64 2,
define void @indexed(ptr %p, i64 %i) {
  call void asm sideeffect "clflushopt -16($0,$1,4)", "r,r,~{memory}"(ptr %p, i64 %i)
  ret void
}

; CHECK-LABEL: define void @intel(
; CHECK: %[[P:.*]] = ptrtoint ptr %p to i64
; CHECK: %[[S:.*]] = add i64 64, %[[P]]
; CHECK: mul i64 %i, 8
; CHECK: scute_shield_flush_stub
define void @intel(ptr %p, i64 %i) {
  call void asm sideeffect inteldialect "clwb byte ptr [$0 + $1*8 + 64]", "r,r,~{memory}"(ptr %p, i64 %i)
  ret void
}

; Only the dialect that is used counts.
; CHECK-LABEL: define void @both(
; CHECK: scute_shield_flush_stub{{.*}}(ptr %p, i64 1,
; CHECK: 7713: clwb ($0)"
define void @both(ptr %p) {
  call void asm sideeffect "clwb $(($0)$|[$0]$)", "r,~{memory}"(ptr %p)
  ret void
}

; A flush in a comment, in a name or in a directive is none.
; CHECK-LABEL: define void @nothing(
; CHECK-NOT: scute_shield
; CHECK: ret void
define void @nothing(ptr %p) {
  call void asm sideeffect "# clwb ($0)\0A/* sfence */ nop; .ascii \22mfence;\22", "r,~{memory}"(ptr %p)
  ret void
}
