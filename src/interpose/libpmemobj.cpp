// SPDX-License-Identifier: BSD-3-Clause
// Windows around libpmemobj's transactions and atomic calls: between their first fence and their last nothing that the program has
// asked for is half done as far as it can tell, so one commit at the end does.
//
// OBJ-1 A transaction's window is open while pmemobj_tx_stage() says so, whatever way it came about: calls are not counted, for
//    an abort leaves by longjmp().
// OBJ-2 These functions have nothing to do after a call that does not return.
#include <sys/types.h>

#include <cstdint>
#include <cwchar>

#include "interpose/durability.hpp"
#include "interpose/next_call.hpp"

using namespace scute::core::interpose;

namespace {

constexpr const char* library = "libpmemobj.so.1";

// As libpmemobj has them.
struct pool;
struct oid {
  uint64_t pool, offset;
};
struct action;
using constructor = int (*)(pool*, void*, void*);
constexpr int no_stage = 0;

constinit next_call<int()> next_stage{"pmemobj_tx_stage", library};
constinit next_call<pool*(oid)> next_pool_by_oid{"pmemobj_pool_by_oid", library};

// Which transaction's window this thread has.
[[gnu::tls_model("initial-exec")]] thread_local constinit bool in_transaction = false;

// OBJ-1
void follow_stage(const void* pool_or_null) noexcept {
  const bool now = next_stage() != no_stage;
  if (now == in_transaction) return;
  in_transaction = now;
  if (now)
    begin_window(pool_or_null);
  else
    end_window();
}

class window {
 public:
  explicit window(const void* at) noexcept { begin_window(at); }
  ~window() { end_window(); }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
};

}  // namespace

#define SCUTE_OBJ_NEXT(type, name, parameters) \
  constinit next_call<type parameters> next_##name { #name, library }

// begin is variadic: it ends its arguments itself, and hands them to nobody that we could name. A jump keeps them where they are.
namespace {
constinit next_call<void()> next_tx_begin{"pmemobj_tx_begin", library};
}

SCUTE_OBJ_NEXT(void, pmemobj_tx_end_unused, ());
