// SPDX-License-Identifier: BSD-3-Clause
// Flushes and fences in every form in which programs write them.
//
// flags: -mclwb -mclflushopt
// log: flush clwb +0 main
// log: fence sfence main
// log: flush clflushopt +64 main
// log: fence mfence main
// log: flush clflush +128 main
// log: flush clwb +192 main
// log: flush clwb +200 main
// log: flush clflushopt +256 main
// log: flush clflush +320 main
// log: flush clwb +384 main
// log: flush clflush +448 main
// log: flush clwb +512 main
// log: flush clwb +520 main
// log: fence mfence persist
// log: flush clflush +576 persist
// log: fence mfence persist
// log: fence sfence main
// log: flush clflush +640 main
// log: fence locked main
// log: fence locked main
// log: fence mfence main
// log: fence locked main
// log: fence locked main
// log: fence locked main
#include <emmintrin.h>
#include <immintrin.h>
#include <stdatomic.h>

#include "view.h"

// As the FAST&FAIR tree does it.
static inline void persist(char *p) {
  __asm__ volatile("mfence" ::: "memory");                     // fence
  __asm__ volatile("clflush %0" : "+m"(*(volatile char *)p));  // flush
  __asm__ volatile("mfence" ::: "memory");                     // fence
}

int main(void) {
  char *v = view_map();
  char outside[128];
  _Atomic long word = 0;
  long index = 3;
  _mm_clwb(v);  // flush
  _mm_clwb(outside);
  _mm_sfence();                                                                      // fence
  _mm_clflushopt(v + 64);                                                            // flush
  _mm_mfence();                                                                      // fence
  _mm_clflush(v + 128);                                                              // flush
  __asm__ volatile("clwb %0" : "+m"(v[192]));                                        // flush
  __asm__ volatile("clwb 8%0" : : "m"(v[192]) : "memory");                           // flush
  __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*(volatile char *)(v + 256)));    // flush
  __asm__ volatile("clflush (%0)" : : "r"(v + 320) : "memory");                      // flush
  __asm__ volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)(v + 384)));   // flush
  __asm__ volatile("clflush 256(%0,%1,8)" : : "r"(v + 168), "r"(index) : "memory");  // flush
  __asm__ volatile("clwb (%%rax)" : : "a"(v + 512) : "memory");                      // flush
  __asm__ volatile("clwb %a0" : : "r"(v + 520) : "memory");                          // flush
  persist(v + 576);
  __asm__ volatile("sfence\n\tclflush (%0)" : : "r"(v + 640) : "memory");  // fence flush
  __asm__ volatile("lock; addq $1, %0" : "+m"(word));                      // fence
  atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);               // fence
  atomic_thread_fence(memory_order_seq_cst);                               // fence
  atomic_store(&word, 5);                                                  // fence
  long expected = 5;
  atomic_compare_exchange_strong(&word, &expected, 6);         // fence
  __asm__ volatile("xchgq %0, %1" : "+r"(index), "+m"(word));  // fence
  // None of these is an instruction that fences.
  atomic_thread_fence(memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&word, 7, memory_order_release);
  return index == 6 && word == 7 ? 0 : 1;
}
