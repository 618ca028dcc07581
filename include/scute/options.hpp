// SPDX-License-Identifier: BSD-3-Clause
//
// options.hpp: everything that can be chosen when a pool is created or opened.
//
//   scute::pool::create(path, {.size = 1ULL << 30, .layout = "shop",
//                              .protection = scute::protection::mlp});
//
// Fields, meanings and defaults are those of scute_options in scute.h. Fields marked [create] are
// stored in the pool. Opening throws errc::invalid for one that is neither at its default nor true
// of the pool.
#ifndef SCUTE_OPTIONS_HPP
#define SCUTE_OPTIONS_HPP

#include <scute/scute.h>
#include <scute/error.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace scute {

/// Where the bytes persist: enum scute_medium.
enum class medium : int {
  automatic = SCUTE_MEDIUM_AUTO,
  dax = SCUTE_MEDIUM_DAX,
  file = SCUTE_MEDIUM_FILE,
  ram = SCUTE_MEDIUM_RAM,
};

/// How a transaction becomes durable: enum scute_engine.
enum class engine : int {
  automatic = SCUTE_ENGINE_AUTO,  ///< create: spec on a disk; else logfree with mlpc, or redo
  redo = SCUTE_ENGINE_REDO,
  logfree = SCUTE_ENGINE_LOGFREE,
  spec = SCUTE_ENGINE_SPEC,
};

/// How much is protected: enum scute_protection. Each level adds to the one before.
enum class protection : int {
  automatic = SCUTE_PROTECT_AUTO,  ///< create: mlpc; open: as the pool is
  none = SCUTE_PROTECT_NONE,       ///< crash consistency only
  ml = SCUTE_PROTECT_ML,           ///< + metadata and logs replicated
  mlp = SCUTE_PROTECT_MLP,         ///< + parity
  mlpc = SCUTE_PROTECT_MLPC,       ///< + checksums of objects
};

/// Kind of object checksum: enum scute_checksum.
enum class checksum : int { crc32c = SCUTE_CHECKSUM_CRC32C, adler32 = SCUTE_CHECKSUM_ADLER32 };

/// When the checksums of objects are tested: enum scute_policy.
enum class policy : int {
  standard = SCUTE_POLICY_DEFAULT,  ///< when an object is opened for writing
  scrub = SCUTE_POLICY_SCRUB,  ///< the same, and all of them after every `scrub_every` transactions
  conservative = SCUTE_POLICY_CONSERVATIVE,  ///< also at every read
};

/// Something was found damaged: what, where, and what became of it; see scute.h.
using event = scute_event;

/// Called for each event, in no particular thread, never two at a time for one pool. Must not call
/// into the pool, nor throw.
using event_function = std::function<void(const event&)>;

/// Called during long work with bytes done and in total. Runs in the calling thread; must not call
/// into the pool. An exception that it throws is rethrown when the work has ended.
using progress_function = std::function<void(std::string_view what, uint64_t done, uint64_t total)>;

struct options {
  uint64_t size = 64ULL << 20;  ///< [create] bytes; multiple of 4096, >= SCUTE_SIZE_MIN
  std::string layout = {};      ///< name of the data layout, <= 63 bytes; empty: any
  scute::medium medium = scute::medium::automatic;
  scute::engine engine = scute::engine::automatic;              ///< [create]
  scute::protection protection = scute::protection::automatic;  ///< [create]
  scute::checksum checksum = scute::checksum::crc32c;           ///< [create]
  uint32_t rows = 0;                ///< [create] data rows of a zone; 0: by pool size
  uint32_t parity = 0;              ///< [create] parity rows of a zone; 0: by protection
  uint32_t lanes = 0;               ///< [create] transactions at once; 0: by pool size
  uint32_t chunk_size = 0;          ///< [create] bytes; 0: by pool size
  uint64_t log_cap = 0;             ///< [create] spec alone: bytes of its log; 0: by pool size
  bool readonly = false;            ///< open: nothing reaches the file
  bool preallocate = false;         ///< create: reserve every block now
  bool overwrite = false;           ///< create: replace an existing pool of that name
  uint32_t mode = 0;                ///< [create] permission bits; 0: the library's default
  progress_function progress = {};  ///< empty: none
  scute::policy policy = scute::policy::standard;
  uint64_t scrub_every = 0;       ///< policy scrub: transactions from one scrub to the next
  event_function event = {};      ///< empty: none; a copy lives as long as the pool is open
  bool no_fault_handler = false;  ///< leave SIGBUS and SIGSEGV alone
  bool account = false;           ///< count the object bytes that are read untested
  bool lazy_recovery = false;     ///< logfree, spec: no scan in the background after a crash
  bool damaged = false;           ///< a shielded file that was changed is damaged: to be repaired
  bool plain_encoding = false;    ///< engine logfree: without pipelining, for measurements
  bool without_log = false;       ///< engine spec: opens without POOL.log, if that is gone

  /// Sets one option by name, as text: set("size", "64M"), set("protection", "mlp").
  /// Throws errc::invalid, saying what would have been right.
  options& set(const std::string& name, const std::string& value);

  /// Applies every SCUTE_<NAME> variable of the environment on top of these options.
  options& apply_env();

  /// The same options for the C interface; `layout` stays owned by this struct. Without the
  /// callbacks.
  scute_options native() const;

 private:
  // Keeps designated initialisers possible: no constructors, no private data.
  void adopt(const scute_options& from);
};

namespace detail {

/// Carries a C++ callback and the first exception that it threw across the C interface.
struct progress_call {
  const progress_function* function;
  std::exception_ptr thrown = nullptr;

  static void run(void* arg, const char* what, uint64_t done, uint64_t total) noexcept {
    auto* self = static_cast<progress_call*>(arg);
    if (self->thrown || !*self->function) {
      return;
    }
    try {
      (*self->function)(what, done, total);
    } catch (...) {
      self->thrown = std::current_exception();
    }
  }
};

}  // namespace detail

inline scute_options options::native() const {
  scute_options c;
  scute_options_init(&c);
  c.size = size;
  c.layout = layout.empty() ? nullptr : layout.c_str();
  c.medium = static_cast<scute_medium>(medium);
  c.engine = static_cast<scute_engine>(engine);
  c.protection = static_cast<scute_protection>(protection);
  c.checksum = static_cast<scute_checksum>(checksum);
  c.rows = rows;
  c.parity = parity;
  c.lanes = lanes;
  c.chunk_size = chunk_size;
  c.log_cap = log_cap;
  const auto flag = [](bool on, scute_flags bit) { return on ? static_cast<uint32_t>(bit) : 0U; };
  c.flags = flag(readonly, SCUTE_READONLY) | flag(preallocate, SCUTE_PREALLOCATE) |
            flag(overwrite, SCUTE_OVERWRITE) | flag(no_fault_handler, SCUTE_NO_FAULT_HANDLER) |
            flag(account, SCUTE_ACCOUNT) | flag(lazy_recovery, SCUTE_LAZY_RECOVERY) |
            flag(damaged, SCUTE_DAMAGED) | flag(plain_encoding, SCUTE_PLAIN_ENCODING) |
            flag(without_log, SCUTE_WITHOUT_LOG);
  c.policy = static_cast<scute_policy>(policy);
  c.scrub_every = scrub_every;
  if (mode != 0) {
    c.mode = mode;
  }
  return c;
}

inline void options::adopt(const scute_options& from) {
  size = from.size;
  if (from.layout == nullptr) {
    layout.clear();
  } else if (from.layout != layout.c_str()) {
    layout = from.layout;
  }
  medium = static_cast<scute::medium>(from.medium);
  engine = static_cast<scute::engine>(from.engine);
  protection = static_cast<scute::protection>(from.protection);
  checksum = static_cast<scute::checksum>(from.checksum);
  rows = from.rows;
  parity = from.parity;
  lanes = from.lanes;
  chunk_size = from.chunk_size;
  log_cap = from.log_cap;
  readonly = (from.flags & SCUTE_READONLY) != 0;
  preallocate = (from.flags & SCUTE_PREALLOCATE) != 0;
  overwrite = (from.flags & SCUTE_OVERWRITE) != 0;
  no_fault_handler = (from.flags & SCUTE_NO_FAULT_HANDLER) != 0;
  account = (from.flags & SCUTE_ACCOUNT) != 0;
  lazy_recovery = (from.flags & SCUTE_LAZY_RECOVERY) != 0;
  damaged = (from.flags & SCUTE_DAMAGED) != 0;
  plain_encoding = (from.flags & SCUTE_PLAIN_ENCODING) != 0;
  without_log = (from.flags & SCUTE_WITHOUT_LOG) != 0;
  policy = static_cast<scute::policy>(from.policy);
  scrub_every = from.scrub_every;
  mode = from.mode;
}

inline options& options::set(const std::string& name, const std::string& value) {
  scute_options c = native();
  detail::check(scute_options_set(&c, name.c_str(), value.c_str()));
  adopt(c);
  return *this;
}

inline options& options::apply_env() {
  scute_options c = native();
  detail::check(scute_options_from_env(&c));
  adopt(c);
  return *this;
}

}  // namespace scute

#endif
