// SPDX-License-Identifier: BSD-3-Clause
// A signal handler that stores, flushes and fences, and interrupts the program anywhere: also
// inside of a stub. Nothing that the program computes may change (HOOK-5).
//
// options: detect
// flags: -mclwb
// log: any
#include <immintrin.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "view.h"

static volatile sig_atomic_t handled;

static void on_alarm(int number) {
  (void)number;
  char *v = (char *)VIEW_BASE + 4096;
  *(volatile long *)v = handled;
  _mm_clwb(v);
  _mm_sfence();
  handled = handled + 1;
}

__attribute__((noinline)) static double work(char *v, unsigned rounds) {
  double sum = 0;
  unsigned long mix = 1;
  float lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = (float)i;
  for (unsigned i = 0; i < rounds; ++i) {
    mix = mix * 6364136223846793005UL + i;
    *(unsigned long *)(v + mix % 512 * 8) = mix;
    if (i % 8 == 0) _mm_clwb(v + mix % 512 * 8);
    if (i % 16 == 0) _mm_sfence();
    for (int j = 0; j < 16; ++j) lanes[j] = lanes[j] * 0.5f + (float)(mix % 7);
    sum += sqrt((double)(mix % 1000)) + (double)lanes[i % 16];
  }
  return sum;
}

int main(void) {
  char *v = view_map();
  const double expected = work(v, 2000);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int wrong = 0;
  while (handled < 200)
    if (work(v, 2000) != expected) wrong = 1;
  setitimer(ITIMER_REAL, &never, NULL);
  return wrong;
}
