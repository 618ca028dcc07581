// SPDX-License-Identifier: BSD-3-Clause
//
// pool.hpp: a file of objects.
#ifndef SCUTE_POOL_HPP
#define SCUTE_POOL_HPP

#include <scute/objects.hpp>
#include <scute/options.hpp>
#include <scute/reader.hpp>
#include <scute/scrub.hpp>
#include <scute/tx.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace scute {

using info = scute_info;          ///< facts about an open pool; see scute.h
using counters = scute_counters;  ///< counts since a pool was opened; see scute.h
using report = scute_report;      ///< the result of a check; see scute.h

/// An injury for pool::inject(); see scute_injection in scute.h. Constructed with the defaults: one
/// flip of one bit anywhere, seed 1.
struct injection : scute_injection {
  injection() noexcept : scute_injection() { scute_injection_init(this); }
};

/// One injury: file offset and length.
using injury_function = std::function<void(uint64_t offset, uint64_t length)>;

namespace detail {

/// The members of a pool object: the address of the mapping, and the callback that the library
/// calls.
struct open_pool : mapping {
  event_function event;

  static void notify(void* arg, const scute_event* what) noexcept {
    static_cast<open_pool*>(arg)->event(*what);
  }
};

}  // namespace detail

/// An open pool. Move-only; the destructor closes. As a reader it shows the committed state. All
/// members but close() may be called from any number of threads at once.
class pool : public reader {
 public:
  /// An empty pool object, to be assigned to. Any other use throws.
  pool() noexcept = default;

  /// Makes a pool file and opens it. Throws errc::exists if the file is there already (see
  /// options::overwrite); on failure no new file remains.
  static pool create(const std::filesystem::path& path, const options& how = {}) {
    return start(path, how, scute_create);
  }

  /// Opens a pool; after a crash, completes the transactions that had been decided. Throws
  /// errc::noent, errc::busy (open in another process), errc::layout, errc::corrupt, ...
  static pool open(const std::filesystem::path& path, const options& how = {}) {
    return start(path, how, scute_open);
  }

  /// Gives a closed pool another engine (scute_set_engine).
  static void set_engine(const std::filesystem::path& path, engine to, const options& how = {}) {
    const auto native = how.native();
    detail::check(scute_set_engine(path.c_str(), &native, static_cast<scute_engine>(to)));
  }

  /// Opens the pool if the file exists and creates it otherwise.
  static pool open_or_create(const std::filesystem::path& path, const options& how = {}) {
    for (int attempt = 0;; ++attempt) {
      try {
        return open(path, how);
      } catch (const error& e) {
        if (e.which() != errc::noent || how.readonly) {
          throw;
        }
      }
      try {
        return create(path, how);
      } catch (const error& e) {  // another process may have created it in between: open that one
        if (e.which() != errc::exists || attempt == 3) {
          throw;
        }
      }
    }
  }

  /// Takes over a pool that was opened through the C interface; the pool object closes it.
  static pool adopt(scute_pool* handle) {
    pool adopted;
    try {
      adopted.state_ = std::make_unique<detail::open_pool>();
    } catch (...) {
      scute_close(handle);
      throw;
    }
    adopted.take(handle);
    return adopted;
  }

  pool(pool&& other) noexcept : reader(other), state_(std::move(other.state_)) { other.forget(); }
  pool& operator=(pool&& other) noexcept {
    pool(std::move(other)).swap(*this);
    return *this;
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Closes; an error at closing is lost (call close() to see it).
  ~pool() {
    if (state_) {
      scute_close(state_->handle);
    }
  }

  /// Closes the pool and marks it clean. Every reader of it and reference into it becomes invalid.
  /// No thread may be inside a call on it. Closing an empty pool object does nothing.
  void close() {
    if (state_) {
      const std::unique_ptr<detail::open_pool> last = std::move(state_);  // closing may report
      forget();
      detail::check(scute_close(last->handle));
    }
  }

  /// The pool object holds an open pool.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  // ---- objects -----------------------------------------------------------------------------

  /// The object from which all others are reached. The first call makes it, all bytes zero: no
  /// constructor runs, so zero must be a good start for T, as it is for every container. Throws
  /// errc::range if the existing root is smaller than T. Not inside a transaction.
  template <class T>
  ptr<T> root() const {
    detail::require_storable<T>();
    scute_oid oid = SCUTE_OID_NULL;
    detail::check(scute_root(handle(), sizeof(T), type_number<T>, &oid));
    return ptr<T>(oid);
  }

  /// The object, after tests that it is live, has this size and, if T is numbered, this type, and
  /// that its checksum matches. Damage is repaired first. Throws errc::oid, errc::freed,
  /// errc::range, errc::type or errc::corrupt.
  template <class T>
  const T& get_verified(ptr<T> p) const {
    detail::require_storable<T>();
    verify(p.oid(), sizeof(T), type_number<T>);
    return *static_cast<const T*>(static_cast<const void*>(address(p.oid(), sizeof(T))));
  }

  /// The same for an array.
  template <class T>
  std::span<const T> get_verified(ptr<T[]> p) const {
    detail::require_storable<T>();
    verify(p.oid(), 0, type_number<T[]>);
    const uint64_t size = size_of(p);
    return {static_cast<const T*>(static_cast<const void*>(address(p.oid(), size))),
            static_cast<size_t>(size / sizeof(T))};
  }

  /// Changes one object without a transaction around it, atomically and durably: f(T&) works on a
  /// copy, which is written when f returns and dropped when it throws. Returns what f returns.
  /// Throws errc::conflict if another thread changed the object meanwhile, errc::freed if it was
  /// freed: then nothing was written.
  template <class T, class F>
  std::invoke_result_t<F, T&> update(ptr<T> p, F&& f) const {
    detail::require_storable<T>();
    void* bytes = nullptr;
    detail::check(scute_obj_open(handle(), p.oid(), &bytes));
    std::unique_ptr<void, decltype(&scute_obj_discard)> held(bytes, scute_obj_discard);
    T& object = *static_cast<T*>(bytes);
    if constexpr (std::is_void_v<std::invoke_result_t<F, T&>>) {
      std::invoke(std::forward<F>(f), object);
      detail::check(scute_obj_commit(held.release()));
    } else {
      std::invoke_result_t<F, T&> result = std::invoke(std::forward<F>(f), object);
      detail::check(scute_obj_commit(held.release()));
      return result;
    }
  }

  /// Runs f(tx&) in a transaction: f returns, and everything it did is durable; f throws, and
  /// nothing happened (the exception is rethrown). Inside another transaction of this thread on
  /// this pool, f joins that one, and an exception dooms the whole. Returns what f returns. Throws
  /// what transaction's constructor and commit() throw.
  template <class F>
  std::invoke_result_t<F, tx&> transact(F&& f) const {
    transaction scope(*this);
    if constexpr (std::is_void_v<std::invoke_result_t<F, tx&>>) {
      std::invoke(std::forward<F>(f), static_cast<tx&>(scope));
      scope.commit();
    } else {
      std::invoke_result_t<F, tx&> result =
          std::invoke(std::forward<F>(f), static_cast<tx&>(scope));
      scope.commit();
      return result;
    }
  }

  /// The calling thread is in a transaction on this pool.
  bool in_transaction() const { return scute_tx_current(handle()) != nullptr; }

  /// All live objects of type T in address order, as a range of ptr<T>; objects<>() is all of every
  /// type, as ptr<void>. Objects allocated or freed meanwhile may or may not be seen. Do not free
  /// an iterator's object before the iterator has advanced.
  template <class T = void>
  object_range<T> objects() const {
    static_assert(std::is_void_v<T> || numbered<T>,
                  "scute: only types with a number can be enumerated: give this one a name with "
                  "SCUTE_TYPE(type, \"name\")");
    return object_range<T>(handle());
  }

  /// The type number that the object was allocated with.
  template <class T>
  uint32_t type_of(ptr<T> p) const {
    uint32_t type = 0;
    detail::check(scute_object_info(handle(), p.oid(), nullptr, nullptr, &type));
    return type;
  }

  // ---- the pool as a whole -----------------------------------------------------------------

  scute::info info() const {
    scute::info facts{};
    facts.struct_size = sizeof(facts);
    detail::check(scute_pool_info(handle(), &facts));
    return facts;
  }

  scute::counters stats() const {
    scute::counters totals{};
    totals.struct_size = sizeof(totals);
    detail::check(scute_stats(handle(), &totals));
    return totals;
  }

  /// Verifies every structure, object and column, and with `repair` repairs what the redundancy
  /// allows. Not while transactions run (errc::invalid inside one). An exception that a callback
  /// throws is rethrown when the check has ended.
  scute::report check(bool repair = false, const finding_function& finding = {},
                      const progress_function& progress = {}) const;

  /// Verifies and repairs the whole pool while transactions run. Throws errc::busy if a scrub is
  /// under way. An exception that a callback throws stops it, and is rethrown.
  scute::report scrub(const scrub_options& how = {}) const;

  /// The same in threads of its own, which yield the CPU to others; without callbacks.
  void start_scrub(const scrub_options& how = {}) const {
    scute_scrub_options c = detail::native(how);
    detail::check(scute_scrub_start(handle(), &c));
  }

  /// Waits for the scrub that start_scrub() began. Throws errc::noent if none was begun.
  scute::report wait_for_scrub() const {
    scute::report result{};
    result.struct_size = sizeof(result);
    detail::check(scute_scrub_wait(handle(), &result));
    return result;
  }

  /// Asks a scrub that is under way to stop where it is; it can be resumed. Returns at once.
  void stop_scrub() const noexcept { scute_scrub_stop(native_handle()); }

  /// Engine logfree, after a crash: takes part in recovery until it is complete. Not inside a
  /// transaction. An exception that progress throws is rethrown when the work has ended.
  void wait_for_recovery(const progress_function& progress = {}) const {
    detail::progress_call call{&progress};
    const int result = scute_recovery_wait(handle(), detail::progress_call::run, &call);
    if (call.thrown) {
      std::rethrow_exception(call.thrown);
    }
    detail::check(result);
  }

  /// Engine logfree: makes the parity of all transactions that have returned durable, so that a
  /// crash finds nothing to resolve. errc::io if a fence has failed.
  void drain() const { detail::check(scute_drain(handle())); }

  /// The damage found, and its outcome: as far as the pool's ring goes back, oldest first.
  std::vector<event> events() const {
    detail::event_collector all;
    detail::check(scute_events(handle(), detail::event_collector::add, &all));
    if (all.thrown) {
      std::rethrow_exception(all.thrown);
    }
    return std::move(all.found);
  }

  /// Damages the pool without its knowledge, for drills; transactions may run. Returns the number
  /// of injuries. Throws errc::noent if the pool has no byte in such a region, errc::unsupported
  /// for a page that could not be rebuilt, errc::readonly, errc::range. An exception that visit
  /// throws is rethrown when all is done.
  uint64_t inject(const injection& what, const injury_function& visit = {}) const {
    struct call {
      const injury_function* visit;
      std::exception_ptr thrown = nullptr;

      static void run(void* arg, uint64_t offset, uint64_t length) noexcept {
        auto* self = static_cast<call*>(arg);
        try {
          (*self->visit)(offset, length);
        } catch (...) {
          self->thrown = std::current_exception();
        }
      }
    } arg{&visit};
    uint64_t done = 0;
    detail::check(scute_inject(handle(), &what, visit ? call::run : nullptr, &arg, &done));
    if (arg.thrown) {
      std::rethrow_exception(arg.thrown);
    }
    return done;
  }

  /// Largest object that this pool could ever hold, in bytes.
  uint64_t alloc_max() const { return scute_alloc_max(handle()); }

  /// For the C interface; still owned by this object. Null if there is no open pool.
  scute_pool* native_handle() const noexcept { return state_ ? state_->handle : nullptr; }

 private:
  using start_function = int (*)(const char*, const scute_options*, scute_pool**);

  static pool start(const std::filesystem::path& path, const options& how,
                    start_function function) {
    scute_options c = how.native();
    detail::progress_call progress{&how.progress};
    if (how.progress) {
      c.progress = detail::progress_call::run;
      c.progress_arg = &progress;
    }
    pool opened;
    auto state = std::make_unique<detail::open_pool>();
    if (how.event) {
      state->event = how.event;
      c.event = detail::open_pool::notify;
      c.event_arg = state.get();
    }
    scute_pool* handle = nullptr;
    detail::check(function(path.c_str(), &c, &handle));
    opened.state_ = std::move(state);
    opened.take(handle);
    if (progress.thrown) {
      std::rethrow_exception(progress.thrown);
    }
    return opened;
  }

  void take(scute_pool* handle) {
    state_->handle = handle;
    state_->base = scute_direct_base(handle);
    map_ = state_.get();
    const scute::info facts = info();
    state_->first = uint64_t{facts.tag} << 48;
    state_->limit = facts.size;
    const bool verify_on_read =
        facts.policy == SCUTE_POLICY_CONSERVATIVE || (facts.flags & SCUTE_ACCOUNT) != 0;
    state_->recovering = !verify_on_read && facts.unresolved != 0;
    state_->reads.units =
        verify_on_read || state_->recovering ? 0 : (facts.size - SCUTE_DIRECT_MAX) / 32;
    attach(state_.get());
  }

  void verify(scute_oid oid, uint64_t size_min, uint32_t type) const {
    const void* bytes = nullptr;
    detail::check(scute_get_verified(handle(), oid, &bytes));
    uint64_t size = 0;
    uint32_t actual = 0;
    detail::check(scute_object_info(handle(), oid, &size, nullptr, &actual));
    if (type != 0 && actual != type) {
      detail::throw_error(errc::type, "the object is of another type than the pointer says");
    }
    if (size < size_min) {
      detail::throw_error(errc::range, "the object is smaller than the pointer's type");
    }
  }

  void forget() noexcept { detach(); }

  void swap(pool& other) noexcept {
    std::swap(static_cast<reader&>(*this), static_cast<reader&>(other));
    std::swap(state_, other.state_);
  }

  std::unique_ptr<detail::open_pool> state_;
};

inline scute::report pool::check(bool repair, const finding_function& finding,
                                 const progress_function& progress) const {
  struct callbacks
      : detail::progress_call {  // the C interface passes one argument to both callbacks
    const finding_function* found;

    static void find(void* arg, const char* what, uint64_t offset, uint64_t length,
                     scute_oid object, int repaired) noexcept {
      auto* self = static_cast<callbacks*>(static_cast<detail::progress_call*>(arg));
      if (self->thrown) {
        return;
      }
      try {
        (*self->found)(what, offset, length, object, repaired != 0);
      } catch (...) {
        self->thrown = std::current_exception();
      }
    }
  };
  callbacks arg{{&progress}, &finding};
  scute::report result{};
  result.struct_size = sizeof(result);
  detail::check(scute_check(handle(), repair ? 1 : 0, &result, finding ? callbacks::find : nullptr,
                            progress ? callbacks::run : nullptr,
                            static_cast<detail::progress_call*>(&arg)));
  if (arg.thrown) {
    std::rethrow_exception(arg.thrown);
  }
  return result;
}

inline scute::report pool::scrub(const scrub_options& how) const {
  detail::scrub_callbacks arg{how, handle()};
  scute_scrub_options c = detail::native(how);
  c.arg = &arg;
  c.finding = how.finding ? detail::scrub_callbacks::find : nullptr;
  c.progress = how.progress ? detail::scrub_callbacks::report : nullptr;
  c.zone = how.zone ? detail::scrub_callbacks::end : nullptr;
  scute::report result{};
  result.struct_size = sizeof(result);
  detail::check(scute_scrub(handle(), &c, &result));
  if (arg.thrown) std::rethrow_exception(arg.thrown);
  return result;
}

}  // namespace scute

template <>
inline constexpr bool scute::process_bound<scute::pool> = true;

#endif
