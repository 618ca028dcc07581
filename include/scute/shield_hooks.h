// SPDX-License-Identifier: BSD-3-Clause
//
// shield_hooks.h: between code that scute-cc has compiled and a runtime that listens to it.
//
// Programs do not include this header. It is for authors of a runtime: the shield's own, a tracer,
// a test.
//
// Instrumented code reports its cache-line flushes, fences and non-temporal stores, and on request
// its stores and loads. It needs no runtime: without one it runs as it was written. Every image
// (the program, each shared object) has a gate of its own and the stubs that lead through it,
// hidden symbols of libscute-shield-hooks.a. When an image is initialised, before its other
// constructors, it looks for the weak symbol scute_shield_hooks_get; a runtime that is linked or
// preloaded exports it.
//
// The rules of the contract. Code keeps HOOK-1 to HOOK-4 (tools/pass), a runtime HOOK-5 to HOOK-8.
//
//   HOOK-1  A flush and a non-temporal store are reported after the stores that they concern, and
//           before the thread's next instruction that stores to memory.
//   HOOK-2  A fence (sfence, mfence, sequentially consistent fence or store, locked instruction) is
//           reported before it is executed. So the stores that it orders are durable before those
//           that it publishes are seen. (It is reported after it, if it follows the last store of
//           one asm.)
//   HOOK-3  A store is reported before it is executed, and between the two the thread reports no
//           fence (a clflush is none here). So a reported store may change its bytes until its
//           thread's next fence, and not later. The reported bytes are lines of 64 bytes that the
//           code may store to: they may be more than those stored, never fewer.
//   HOOK-4  A load is reported before it is executed, and between the two the thread reports no
//           fence.
//   HOOK-5  A hook is safe in a signal handler, whatever it interrupts, and keeps errno: no malloc,
//           no lock that the interrupted code may hold, no thread-local object that is made when it
//           is first used.
//   HOOK-6  A hook does not unwind and does not return elsewhere (longjmp).
//   HOOK-7  A hook whose bit is set in general_only touches general registers and flags only: the
//           stub does not save the vector registers for it. (Compile its file with
//           -mgeneral-regs-only, and call nothing else.)
//   HOOK-8  gate.high rises before an address below it is given to the program, and gate.low falls
//           before gate.high rises. It is above the address just after the last view, since a
//           pointer with that address may lead back into the view.
//
// Where views should lie. The test that is inlined is one comparison, pointer < gate.high. So a
// runtime does well to put its views far below everything else, and low and high around them.
// 0x100000000000 is such an address: position-independent programs, their heaps, libraries and
// stacks lie elsewhere. Other addresses do as well, but the stubs or the runtime are then entered
// for foreign ones.
#ifndef SCUTE_SHIELD_HOOKS_H
#define SCUTE_SHIELD_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCUTE_SHIELD_HOOKS_VERSION 1u

/* Where in the source. In read-only data, without relocations: the names are at a distance from
 * their fields, which is 0 where there is no name. line and column are 0 where the compiler had no
 * debug information. The function is named as the linker knows it. */
struct scute_shield_site {
  int32_t file_distance;
  int32_t function_distance;
  uint32_t line;
  uint32_t column;
};

static inline const char *scute_shield_site_file(const struct scute_shield_site *site) {
  return site->file_distance ? (const char *)&site->file_distance + site->file_distance : "";
}
static inline const char *scute_shield_site_function(const struct scute_shield_site *site) {
  return site->function_distance ? (const char *)&site->function_distance + site->function_distance
                                 : "";
}

enum scute_shield_flush_kind {
  SCUTE_SHIELD_CLWB = 1,
  SCUTE_SHIELD_CLFLUSHOPT = 2,
  SCUTE_SHIELD_CLFLUSH = 3 /* a flush that needs no fence */
};

enum scute_shield_fence_kind {
  SCUTE_SHIELD_SFENCE = 1,
  SCUTE_SHIELD_MFENCE = 2, /* an IR fence that becomes one as well */
  SCUTE_SHIELD_LOCKED = 3  /* a locked instruction, an exchange, a sequentially consistent store */
};

/* Bits of scute_shield_hooks.general_only. */
enum scute_shield_hook_bit {
  SCUTE_SHIELD_HOOK_FLUSH = 1,
  SCUTE_SHIELD_HOOK_FENCE = 2,
  SCUTE_SHIELD_HOOK_STREAM = 4,
  SCUTE_SHIELD_HOOK_STORE = 8,
  SCUTE_SHIELD_HOOK_LOAD = 16
};

struct scute_shield_hooks;

/* The state that an image's instrumented code reads; one in each image. The runtime writes high and
 * low, each as one aligned word. */
struct scute_shield_gate {
  uint64_t high; /* all views and their ends lie below; 0: there is none, nothing is reported */
  uint64_t low;  /* none lies below */
  const struct scute_shield_hooks *hooks; /* NULL without a runtime */
  uint64_t state_saving;                  /* the stubs' own: how to save the vector registers */
};

/* The hooks of a runtime. A hook that is NULL is not called. Hooks are called on the program's
 * thread. `site` is never NULL. Addresses are the program's; a hook is also called for some that
 * belong to no view. */
struct scute_shield_hooks {
  uint32_t version;      /* SCUTE_SHIELD_HOOKS_VERSION */
  uint32_t size;         /* sizeof(struct scute_shield_hooks) */
  uint64_t general_only; /* HOOK-7 */

  /* The line of `address` is flushed. Not 0: it belongs to a view and has been dealt with. 0: the
   * instruction is executed. (An instruction that shares its inline assembly with others is
   * executed anyway.) */
  int (*flush)(const void *address, enum scute_shield_flush_kind kind,
               const struct scute_shield_site *site);
  /* Returns when what the thread has flushed and streamed is durable. The instruction is executed
   * as well. */
  void (*fence)(enum scute_shield_fence_kind kind, const struct scute_shield_site *site);
  /* The bytes were stored non-temporally: durable after the thread's next fence, as if flushed. */
  void (*stream)(const void *address, size_t length, const struct scute_shield_site *site);
  /* -fscute=detect: see HOOK-3. */
  void (*store)(const void *address, size_t length, const struct scute_shield_site *site);
  /* -fscute=loads: the bytes are about to be read; up to a line more may be reported. */
  void (*load)(const void *address, size_t length, const struct scute_shield_site *site);

  /* An image has been loaded, and is about to be unloaded. attach is called before any of the
   * others. It sets the gate's high and low, and keeps the gate so that it can change them. The
   * image has set gate->hooks. */
  void (*attach)(struct scute_shield_gate *gate);
  void (*detach)(struct scute_shield_gate *gate);
};

/* Exported by the runtime. NULL, or a table that lives as long as the process. An image takes no
 * notice of a table whose version is not its own, or whose size is smaller than it knows. */
const struct scute_shield_hooks *scute_shield_hooks_get(void);

/* ---- the mark of instrumented images ------------------------------------------------------------
 * The section .note.scute.shield holds ELF notes of the owner "Scute". Of type OPTIONS there is one
 * for each set of options with which objects of the image were compiled: that an image has one does
 * not say that all of its objects were. The note IMAGE has a table of the flush instructions that
 * the pass has seen. An instruction outside the table is not instrumented, and a runtime that needs
 * every flush refuses the image. */
#define SCUTE_SHIELD_NOTE_OWNER "Scute"

enum scute_shield_note_type { SCUTE_SHIELD_NOTE_OPTIONS = 1, SCUTE_SHIELD_NOTE_IMAGE = 2 };

enum scute_shield_option {
  SCUTE_SHIELD_OPTION_FLUSH = 1, /* always */
  SCUTE_SHIELD_OPTION_DETECT = 2,
  SCUTE_SHIELD_OPTION_LOADS = 4,
  SCUTE_SHIELD_OPTION_TRACE = 8
};

struct scute_shield_note_options {
  uint32_t version; /* SCUTE_SHIELD_HOOKS_VERSION */
  uint32_t options; /* of scute_shield_option */
};

/* Distances in bytes, each from its own field. */
struct scute_shield_note_image {
  uint32_t version;
  int32_t gate; /* struct scute_shield_gate */
  /* the table of flush instructions: int32_t, each the distance from itself to the instruction */
  int32_t flushes;
  int32_t flushes_end;
};

#ifdef __cplusplus
}
#endif

#endif
