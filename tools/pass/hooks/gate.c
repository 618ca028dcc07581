/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c: the gate of an image (scute/shield_hooks.h), and how it meets the runtime. Part of
 * libscute-shield-hooks.a, once in each image that has instrumented code. Nothing here is exported.
 */
#include <cpuid.h>
#include <scute/shield_hooks.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* stubs.S knows the offsets. */
_Static_assert(offsetof(struct scute_shield_gate, high) == 0, "layout");
_Static_assert(offsetof(struct scute_shield_gate, low) == 8, "layout");
_Static_assert(offsetof(struct scute_shield_gate, hooks) == 16, "layout");
_Static_assert(offsetof(struct scute_shield_gate, state_saving) == 24, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, general_only) == 8, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, flush) == 16, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, fence) == 24, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, stream) == 32, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, store) == 40, "layout");
_Static_assert(offsetof(struct scute_shield_hooks, load) == 48, "layout");

HIDDEN struct scute_shield_gate scute_shield_gate_of_image;

extern const struct scute_shield_hooks *scute_shield_hooks_get(void) __attribute__((weak));

/* The instruction by which stubs.S saves the vector registers: 2 xsavec, 1 xsave, 0 fxsave. */
static uint64_t state_saving_of_cpu(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  if (!__get_cpuid_count(13, 1, &a, &b, &c, &d)) return 1;
  return a & 2 ? 2 : 1;
}

/* The first of the image: code of its other constructors may flush. */
__attribute__((constructor(101))) static void attach(void) {
  struct scute_shield_gate *gate = &scute_shield_gate_of_image;
  if (!scute_shield_hooks_get) return;
  const struct scute_shield_hooks *hooks = scute_shield_hooks_get();
  if (!hooks || hooks->version != SCUTE_SHIELD_HOOKS_VERSION || hooks->size < sizeof *hooks) return;
  gate->state_saving = state_saving_of_cpu();
  gate->hooks = hooks;
  if (hooks->attach) hooks->attach(gate);
}

/* The last of the image. The gate stays as it is: at the end of a process, code of this image may
 * still be called by others' destructors. */
__attribute__((destructor(101))) static void detach(void) {
  struct scute_shield_gate *gate = &scute_shield_gate_of_image;
  if (gate->hooks && gate->hooks->detach) gate->hooks->detach(gate);
}
