// SPDX-License-Identifier: BSD-3-Clause
//
// store.hpp: persist-on-write stores and their sections. Part of <scute/pow.hpp>.
#ifndef SCUTE_POW_STORE_HPP
#define SCUTE_POW_STORE_HPP

#include <scute/pow.h>
#include <scute/error.hpp>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace scute::pow {

enum class protection {
  none = SCUTE_POW_NONE,
  sealed = SCUTE_POW_SEALED,
  always = SCUTE_POW_ALWAYS
};

/// When a section is durable: when commit() returns, or by the next sync().
enum class durability { strict = SCUTE_POW_STRICT, later = SCUTE_POW_LATER };
inline constexpr durability strict = durability::strict, later = durability::later;

/// The options of a store; see scute_pow_options, which has the same names.
struct options : scute_pow_options {
  options() { scute_pow_options_init(this); }
};

namespace detail {
/// The exception of a codec in this thread while a section was written.
inline thread_local std::exception_ptr thrown_by_codec;

inline void check(int result) {
  if (result >= 0) [[likely]]
    return;
  if (thrown_by_codec) std::rethrow_exception(std::exchange(thrown_by_codec, nullptr));
  scute::detail::throw_last(result);
}

template <class Face>
class serializer;

/// The handle of a store, which stays good as long as this lives. Once the store is closed, calls
/// with it are errc::invalid.
class kept_store {
 public:
  explicit kept_store(scute_pow* handle) : handle_(handle) { check(scute_pow_keep(handle)); }
  ~kept_store() { scute_pow_drop(handle_); }
  kept_store(kept_store&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  kept_store& operator=(kept_store&&) = delete;
  scute_pow* get() const noexcept { return handle_; }

 private:
  scute_pow* handle_;
};

/// std::unique_lock and the like: they hold the lock of another object.
template <class T>
inline constexpr bool holds_another = requires { typename T::mutex_type; };
template <class... Locks>
inline constexpr bool holds_another<std::scoped_lock<Locks...>> = true;

/// A section knows a lock by its address, and gives it back itself.
template <class Lock>
consteval void require_lock() {
  static_assert(!holds_another<Lock>,
                "scute: a section takes the mutex itself and gives it back at its end: pass the "
                "mutex, not a std::unique_lock, lock_guard, scoped_lock or shared_lock of it (for "
                "a shared lock: scute::pow::shared)");
}

template <class Lock>
void unlock(void* lock) {
  static_cast<Lock*>(lock)->unlock();
}
template <class Lock>
void unlock_shared(void* lock) {
  static_cast<Lock*>(lock)->unlock_shared();
}
}  // namespace detail

/// For store::section(): the lock is shared with other readers.
template <class Lock>
struct shared {
  static_assert((detail::require_lock<Lock>(), true));
  explicit shared(Lock& m) : lock_(&m) {}
  void lock() { lock_->lock_shared(); }
  bool try_lock() { return lock_->try_lock_shared(); }
  void unlock() { lock_->unlock_shared(); }
  Lock* lock_;
};

/// Changes that count together. It has its locks until it has ended; without commit(), by an
/// exception too, all that was changed in it is as before. Of one thread. Sections inside a section
/// are parts of it.
class section {
 public:
  ~section() {
    if (handle_ != nullptr) scute_pow_abort(handle_);
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  /// Makes it durable (or leaves that to sync()), and releases the locks. Throws error; then it was
  /// aborted: errc::nospc, errc::range (an object is larger than a segment), errc::aborted (one
  /// inside was), what a codec threw. errc::io: it is unknown whether it is durable.
  void commit() {
    if (handle_ == nullptr) scute::detail::throw_error(errc::notx, "the section has ended");
    detail::check(scute_pow_commit(std::exchange(handle_, nullptr)));
  }
  void abort() noexcept {
    if (handle_ != nullptr) scute_pow_abort(std::exchange(handle_, nullptr));
  }
  /// Writes the objects edited so far while the section continues (eager). To change such an object
  /// again, call edit() again.
  void stream() { detail::check(scute_pow_stream(handle_)); }

  scute_pow_section* native_handle() const noexcept { return handle_; }

 private:
  friend class store;
  explicit section(scute_pow_section* handle) noexcept : handle_(handle) {}

  template <class Lock>
  void add(Lock& m) {
    detail::check(scute_pow_lock(handle_, &m, &detail::unlock<Lock>, 0));
  }
  template <class Lock>
  void add(shared<Lock>& m) {
    detail::check(scute_pow_lock(handle_, m.lock_, &detail::unlock_shared<Lock>, 1));
  }

  scute_pow_section* handle_;
};

/// An open file. Any thread may use it, and one may call close() meanwhile. Moving, release() and
/// the end of the object are for one thread alone. The tables and maps of it are guarded by the
/// program's locks, as other data is.
class store {
 public:
  explicit store(const std::string& path, const options& o = {}) : store(opened(path, o)) {}
  /// Takes a handle over.
  static store adopt(scute_pow* handle) { return store(handle); }
  ~store() { scute_pow_close(native_handle()); }
  store(store&& other) noexcept = default;
  store& operator=(store&&) = delete;

  /// Makes everything durable and releases the file. The structures can still be read afterwards,
  /// and changing them throws error(errc::invalid), as all other calls do. The destructor does the
  /// same, and cannot report errors. Throws error: errc::invalid (this thread has a section open)
  /// and errc::busy (another one has, or is in a call) leave it open.
  void close() { detail::check(scute_pow_close(native_handle())); }
  /// Lets go of the handle; it is void if close() was called.
  scute_pow* release() noexcept {
    const detail::kept_store last(std::move(handle_));
    return last.get();
  }

  /// Takes the locks (each has lock() and unlock(), several of them try_lock() as well), and
  /// begins. Sections that read or edit an object have a lock in common.
  template <class... Locks>
  [[nodiscard]] pow::section section(Locks&... locks) {
    return begin(durability::strict, locks...);
  }
  /// The same, durable by the next sync().
  template <class Lock>
  [[nodiscard]] pow::section section(Lock& lock, durability how) {
    return begin(how, lock);
  }
  [[nodiscard]] pow::section section(durability how) { return begin(how); }
  template <class... Locks>
  [[nodiscard]] pow::section begin(durability how, Locks&... locks) {
    (detail::require_lock<Locks>(), ...);
    // The section first, which may have to wait for another one to end: a waiting thread must hold
    // no lock that the other one needs.
    scute_pow_section* s = nullptr;
    detail::check(scute_pow_begin(native_handle(), static_cast<scute_pow_durability>(how), &s));
    pow::section made(s);
    if constexpr (sizeof...(Locks) == 1)
      (locks.lock(), ...);
    else if constexpr (sizeof...(Locks) > 1)
      std::lock(locks...);
    size_t added = 0;
    try {
      ((made.add(locks), ++added), ...);
    } catch (...) {
      // Those that were added go with the section.
      size_t i = 0;
      ((i++ < added ? void() : locks.unlock()), ...);
      throw;
    }
    return pow::section(std::exchange(made.handle_, nullptr));
  }

  /// All sections that have ended, of all threads, are durable when it returns.
  void sync() { detail::check(scute_pow_sync(native_handle())); }
  /// Cleans up to so many segments; how many were worth it.
  uint64_t clean(uint64_t segments = UINT64_MAX) {
    uint64_t done = 0;
    detail::check(scute_pow_clean(native_handle(), segments, &done));
    return done;
  }
  /// Cleans all that is worth it, and gives the end of the file back.
  void compact() { detail::check(scute_pow_compact(native_handle())); }
  /// Reads everything again; calls report(what, lost). Returns how much is lost. Sections of other
  /// threads wait. Throws error: errc::invalid (this thread has one open), errc::busy (one does not
  /// end within some seconds). flags: SCUTE_POW_REPAIR, SCUTE_POW_COMPARE.
  uint64_t check(uint32_t flags = 0, const std::function<void(const char*, bool)>& report = {}) {
    uint64_t lost = 0;
    detail::check(scute_pow_check(
        native_handle(), flags,
        [](void* arg, const char* what, int is_lost) {
          const auto& f = *static_cast<const std::function<void(const char*, bool)>*>(arg);
          if (f) f(what, is_lost != 0);
        },
        const_cast<std::function<void(const char*, bool)>*>(&report), &lost));
    return lost;
  }
  /// The same; calls report(damage), with the fields of scute_pow_damage.
  uint64_t check_details(uint32_t flags,
                         const std::function<void(const scute_pow_damage&)>& report) {
    uint64_t lost = 0;
    detail::check(scute_pow_check_details(
        native_handle(), flags,
        [](void* arg, const scute_pow_damage* d) {
          (*static_cast<const std::function<void(const scute_pow_damage&)>*>(arg))(*d);
        },
        const_cast<std::function<void(const scute_pow_damage&)>*>(&report), &lost));
    return lost;
  }
  scute_pow_info info() const {
    scute_pow_info i{};
    i.struct_size = sizeof i;
    detail::check(scute_pow_get_info(native_handle(), &i));
    return i;
  }

  scute_pow* native_handle() const noexcept { return handle_.get(); }

 private:
  explicit store(scute_pow* handle) : handle_(handle) {}
  static scute_pow* opened(const std::string& path, const options& o) {
    scute_pow* handle = nullptr;
    detail::check(scute_pow_open(path.c_str(), &o, &handle));
    return handle;
  }

  detail::kept_store handle_;
};

}  // namespace scute::pow

#endif
