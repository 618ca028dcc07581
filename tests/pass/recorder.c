/* SPDX-License-Identifier: BSD-3-Clause
 *
 * recorder.c: a runtime for tests (scute/shield_hooks.h), preloaded. It logs the hooks that concern
 * the view of view.h, one line per hook: "flush clwb +64 file.c:12 function", and the same with
 * fence, stream, store, load.
 *
 *   RECORDER_LOG=FILE     where
 *   RECORDER_SHADOW=1     stores are not logged but kept: at each fence, and at the end, a line of
 *                         the view that changed without a report is "stray +64". A non-temporal
 *                         store that was reported before it was made is
 *                         "early +64 8 file.c:12 function". For one thread.
 *   RECORDER_GENERAL=1    the hooks are declared to use general registers only. Otherwise they
 *                         spoil the vector registers.
 *   RECORDER_SAVING=N     how the stubs are to save those, as on an older processor: 1 xsave,
 *                         0 fxsave (and no hook then spoils registers that fxsave does not save)
 *
 * Compiled with -mgeneral-regs-only, and without the C library's help: hooks run anywhere.
 */
#include <fcntl.h>
#include <scute/shield_hooks.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/view.h"

enum { line_size = 64, lines = VIEW_SIZE / line_size };

static int log_file = -1;
static int shadow, general, attached, saving = -1;
static unsigned char copy[VIEW_SIZE];
static unsigned char announced[lines];

static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

/* ---- text ----------------------------------------------------------------------------------- */

struct text {
  char bytes[512];
  size_t length;
};

static void add(struct text *to, const char *what) {
  while (*what && to->length < sizeof to->bytes - 1) to->bytes[to->length++] = *what++;
}

static void add_number(struct text *to, unsigned long value) {
  char digits[24];
  size_t i = sizeof digits - 1;
  digits[i] = '\0';
  do digits[--i] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  add(to, digits + i);
}

static void add_place(struct text *to, const void *address) {
  add(to, " +");
  add_number(to, (uintptr_t)address - VIEW_BASE);
}

static void add_site(struct text *to, const struct scute_shield_site *site) {
  const char *name = scute_shield_site_file(site);
  for (const char *c = name; *c; ++c)
    if (*c == '/') name = c + 1;
  add(to, " ");
  add(to, name);
  add(to, ":");
  add_number(to, site->line);
  add(to, " ");
  add(to, scute_shield_site_function(site));
}

static void write_down(struct text *line) {
  add(line, "\n");
  if (log_file >= 0) system_call(SYS_write, log_file, (long)line->bytes, (long)line->length);
}

/* ---- hooks ---------------------------------------------------------------------------------- */

/* Spoils the registers that a compiled hook may spoil. */
static void spoil(void) {
  __asm__ volatile(
      "mov $0x5c07e, %%eax\n mov %%eax, %%ecx\n mov %%eax, %%edx\n mov %%eax, %%esi\n mov %%eax, "
      "%%edi\n"
      "mov %%eax, %%r8d\n mov %%eax, %%r9d\n mov %%eax, %%r10d\n mov %%eax, %%r11d\n"
      :
      :
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
  if (general) return;
  __asm__ volatile(
      "pcmpeqd %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm1\n movdqa %%xmm0, %%xmm2\n movdqa %%xmm0, "
      "%%xmm3\n"
      "movdqa %%xmm0, %%xmm4\n movdqa %%xmm0, %%xmm5\n movdqa %%xmm0, %%xmm6\n movdqa %%xmm0, "
      "%%xmm7\n"
      "movdqa %%xmm0, %%xmm8\n movdqa %%xmm0, %%xmm9\n movdqa %%xmm0, %%xmm10\n movdqa %%xmm0, "
      "%%xmm11\n"
      "movdqa %%xmm0, %%xmm12\n movdqa %%xmm0, %%xmm13\n movdqa %%xmm0, %%xmm14\n movdqa %%xmm0, "
      "%%xmm15\n" ::
          : "memory");
  if (saving == 0) return;
  if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroall" ::: "memory");
  if (__builtin_cpu_supports("avx512f"))
    __asm__ volatile(
        "vpxord %%zmm16, %%zmm16, %%zmm16\n vpxord %%zmm31, %%zmm31, %%zmm31\n kxnorw %%k1, %%k1, "
        "%%k1\n" ::
            : "memory");
}

static int is_mine(const void *address) {
  return (uintptr_t)address - VIEW_BASE < VIEW_SIZE;
}

/* Logs the lines that changed without a report. No earlier report holds any longer (HOOK-3). */
static void compare(void) {
  if (!shadow) return;
  const volatile unsigned char *view = (const volatile unsigned char *)VIEW_BASE;
  for (size_t i = 0; i < lines; ++i) {
    int changed = 0;
    for (size_t j = 0; j < line_size; j += 8) {
      const uint64_t now = *(const volatile uint64_t *)(view + i * line_size + j);
      uint64_t *then = (uint64_t *)(copy + i * line_size + j);
      changed |= now != *then;
      *then = now;
    }
    if (changed && !announced[i]) {
      struct text line = {.length = 0};
      add(&line, "stray");
      add_place(&line, (const void *)(VIEW_BASE + i * line_size));
      write_down(&line);
    }
    announced[i] = 0;
  }
}

/* HOOK-1. The programs do not store what is there already. */
static int is_as_before(const void *address, size_t length) {
  const volatile unsigned char *now = address;
  const unsigned char *then = copy + ((uintptr_t)address - VIEW_BASE);
  for (size_t i = 0; i < length; ++i)
    if (now[i] != then[i]) return 0;
  return 1;
}

static void log_event(const char *what, const void *address, size_t length,
                      const struct scute_shield_site *site) {
  struct text line = {.length = 0};
  add(&line, what);
  add_place(&line, address);
  add(&line, " ");
  add_number(&line, length);
  add_site(&line, site);
  write_down(&line);
}

static int on_flush(const void *address, enum scute_shield_flush_kind kind,
                    const struct scute_shield_site *site) {
  static const char *const names[] = {"?", "clwb", "clflushopt", "clflush"};
  if (!is_mine(address)) return 0;
  if (!shadow) {
    struct text line = {.length = 0};
    add(&line, "flush ");
    add(&line, names[kind]);
    add_place(&line, address);
    add_site(&line, site);
    write_down(&line);
  }
  spoil();
  return 1;
}

static void on_fence(enum scute_shield_fence_kind kind, const struct scute_shield_site *site) {
  static const char *const names[] = {"?", "sfence", "mfence", "locked"};
  compare();
  if (!shadow) {
    struct text line = {.length = 0};
    add(&line, "fence ");
    add(&line, names[kind]);
    add_site(&line, site);
    write_down(&line);
  }
  spoil();
}

static void on_stream(const void *address, size_t length, const struct scute_shield_site *site) {
  if (is_mine(address) && !shadow) log_event("stream", address, length, site);
  if (is_mine(address) && shadow && is_as_before(address, length))
    log_event("early", address, length, site);
  spoil();
}

static void on_store(const void *address, size_t length, const struct scute_shield_site *site) {
  const uintptr_t begin = (uintptr_t)address, end = begin + length;
  if (end > VIEW_BASE && begin < VIEW_BASE + VIEW_SIZE) {
    if (!shadow) log_event("store", address, length, site);
    const uintptr_t first = begin < VIEW_BASE ? 0 : begin - VIEW_BASE;
    const uintptr_t last = end > VIEW_BASE + VIEW_SIZE ? VIEW_SIZE - 1 : end - VIEW_BASE - 1;
    for (uintptr_t i = first / line_size; i <= last / line_size; ++i) announced[i] = 1;
  }
  spoil();
}

static void on_load(const void *address, size_t length, const struct scute_shield_site *site) {
  if (is_mine(address)) log_event("load", address, length, site);
  spoil();
}

static void on_attach(struct scute_shield_gate *gate) {
  if (saving >= 0) gate->state_saving = (uint64_t)saving;
  gate->low = VIEW_BASE;
  gate->high = VIEW_BASE + VIEW_SIZE + 1;
  ++attached;
}

static void on_detach(struct scute_shield_gate *gate) {
  struct text line = {.length = 0};
  if (gate->low != VIEW_BASE || --attached < 0) {
    add(&line, "detached twice");
    write_down(&line);
  }
}

static struct scute_shield_hooks hooks = {
    .version = SCUTE_SHIELD_HOOKS_VERSION,
    .size = sizeof hooks,
    .flush = on_flush,
    .fence = on_fence,
    .stream = on_stream,
    .store = on_store,
    .load = on_load,
    .attach = on_attach,
    .detach = on_detach,
};

__attribute__((visibility("default"))) const struct scute_shield_hooks *scute_shield_hooks_get(
    void) {
  if (log_file >= 0) return &hooks;
  const char *name = getenv("RECORDER_LOG");
  if (!name) return NULL;
  log_file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  shadow = getenv("RECORDER_SHADOW") != NULL;
  general = getenv("RECORDER_GENERAL") != NULL;
  if (getenv("RECORDER_SAVING")) saving = getenv("RECORDER_SAVING")[0] - '0';
  if (general) hooks.general_only = ~UINT64_C(0);
  if (shadow) view_map();
  return &hooks;
}

__attribute__((destructor)) static void at_end(void) {
  if (log_file >= 0) compare();
}
