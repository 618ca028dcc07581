; options: trace
; Each store by itself, with its own place.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; The place is four numbers, without relocations; the file's and the function's names are at a distance.
; CHECK-DAG: @[[FILE:.*]] = private unnamed_addr constant [7 x i8] c"bank.c\00", align 1
; CHECK-DAG: @[[NAME:.*]] = private unnamed_addr constant [4 x i8] c"pay\00", align 1
; CHECK-DAG: @[[S1:.*]] = private constant { i32, i32, i32, i32 } { i32 trunc (i64 sub (i64 ptrtoint (ptr @[[FILE]] to i64), i64 ptrtoint (ptr @[[S1]] to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @[[NAME]] to i64), {{.*}}, i32 7, i32 3 }, align 4
; CHECK-DAG: @[[S2:.*]] = private constant {{.*}}, i32 8, i32 5 }, align 4
; The mark: a note with the options flush, detect and trace.
; CHECK-DAG: @scute.shield.note = private constant { i32, i32, i32, [8 x i8], i32, i32 } { i32 6, i32 8, i32 1, [8 x i8] c"Scute\00\00\00", i32 1, i32 11 }, section ".note.scute.shield", align 4
; CHECK-DAG: @llvm.compiler.used = appending global [1 x ptr] [ptr @scute.shield.note]

; CHECK-LABEL: define void @pay(
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8, ptr @[[S1]])
; CHECK: store i64 1
; CHECK: scute_shield_store_stub{{.*}}(ptr %p, i64 8, ptr @[[S2]])
; CHECK: store i64 2
define void @pay(ptr %p) !dbg !5 {
  store i64 1, ptr %p, !dbg !6
  store i64 2, ptr %p, !dbg !7
  ret void, !dbg !7
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "bank.c", directory: "/src")
!3 = !DISubroutineType(types: !4)
!4 = !{}
!5 = distinct !DISubprogram(name: "pay", file: !2, line: 5, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 7, column: 3, scope: !5)
!7 = !DILocation(line: 8, column: 5, scope: !5)
