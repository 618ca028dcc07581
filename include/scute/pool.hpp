// SPDX-License-Identifier: BSD-3-Clause
//
// pool.hpp: a file of objects.
#ifndef SCUTE_POOL_HPP
#define SCUTE_POOL_HPP

#include <scute/objects.hpp>
#include <scute/options.hpp>
#include <scute/reader.hpp>
#include <scute/tx.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace scute {

using info = scute_info;          ///< facts about an open pool; see scute.h
using counters = scute_counters;  ///< what a pool has done since it was opened; see scute.h
using report = scute_report;      ///< what a check found; see scute.h

/// One finding of pool::check(): what, file offset and length, the object if it is one (or
/// SCUTE_OID_NULL), and whether it was repaired.
using finding_function = std::function<void(std::string_view what, std::uint64_t offset,
                                            std::uint64_t length, scute_oid object, bool repaired)>;

/// An open pool. Move-only; the destructor closes. As a reader it shows the committed state. All
/// members but close() may be called from any number of threads at once.
class pool : public reader {
 public:
  /// An empty pool object, to be assigned to. Any other use throws.
  pool() noexcept = default;

  /// Makes a pool file and opens it. Throws errc::exists if the file is there already (see
  /// options::overwrite); on failure no new file is left behind.
  static pool create(const std::filesystem::path& path, const options& how = {}) {
    return start(path, how, scute_create);
  }

  /// Opens a pool; after a crash, completes the transactions that had been decided. Throws
  /// errc::noent, errc::busy (open in another process), errc::layout, errc::corrupt, ...
  static pool open(const std::filesystem::path& path, const options& how = {}) {
    return start(path, how, scute_open);
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
      scute_pool* const handle = state_->handle;
      state_.reset();
      forget();
      detail::check(scute_close(handle));
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

  /// The object, after testing that a live one of this size and, if T is numbered, of this type is
  /// there and that its checksum matches; damage is repaired first. Throws errc::oid, errc::freed,
  /// errc::range, errc::type or errc::corrupt.
  template <class T>
  const T& get_verified(ptr<T> p) const {
    detail::require_storable<T>();
    verify(p.oid(), sizeof(T), type_number<T>);
    return get(p);
  }

  /// The same for an array.
  template <class T>
  std::span<const T> get_verified(ptr<T[]> p) const {
    detail::require_storable<T>();
    verify(p.oid(), 0, type_number<T[]>);
    return get(p);
  }

  /// Changes one object without a transaction around it, atomically and durably: f(T&) works on a
  /// copy, which is written when f returns and dropped when it throws. Returns what f returns.
  /// Throws errc::conflict if somebody else changed the object meanwhile, errc::freed if it was
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
  /// nothing happened (the exception goes on). Inside another transaction of this thread on this
  /// pool, f joins that one, and what it throws dooms the whole. Returns what f returns. Throws
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

  /// All live objects of type T in address order, as a range of ptr<T>; objects<>() is all of
  /// every type, as ptr<void>. What is allocated or freed meanwhile may or may not be seen; the
  /// object that an iterator stands on must not be freed before the iterator moves on.
  template <class T = void>
  object_range<T> objects() const {
    static_assert(std::is_void_v<T> || numbered<T>,
                  "scute: only types with a number can be enumerated: give this one a name with "
                  "SCUTE_TYPE(type, \"name\")");
    return object_range<T>(handle());
  }

  /// The type number that the object was allocated with.
  template <class T>
  std::uint32_t type_of(ptr<T> p) const {
    std::uint32_t type = 0;
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

  /// Verifies every structure, object and column, and with `repair` puts right what the redundancy
  /// allows. Not while transactions run. An exception that a callback throws is rethrown when the
  /// check has ended.
  scute::report check(bool repair = false, const finding_function& finding = {},
                      const progress_function& progress = {}) const;

  /// Largest object that this pool could ever hold, in bytes.
  std::uint64_t alloc_max() const { return scute_alloc_max(handle()); }

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
    scute_pool* handle = nullptr;
    detail::check(function(path.c_str(), &c, &handle));
    opened.take(handle);
    if (progress.thrown) {
      std::rethrow_exception(progress.thrown);
    }
    return opened;
  }

  void take(scute_pool* handle) {
    try {
      state_ = std::make_unique<detail::mapping>();
    } catch (...) {
      scute_close(handle);
      throw;
    }
    state_->handle = handle;
    state_->base = scute_direct_base(handle);
    map_ = state_.get();
    const scute::info facts = info();
    state_->first = std::uint64_t{facts.tag} << 48;
    state_->length = facts.size;
  }

  void verify(scute_oid oid, std::uint64_t size_min, std::uint32_t type) const {
    const void* bytes = nullptr;
    detail::check(scute_get_verified(handle(), oid, &bytes));
    std::uint64_t size = 0;
    std::uint32_t actual = 0;
    detail::check(scute_object_info(handle(), oid, &size, nullptr, &actual));
    if (type != 0 && actual != type) {
      detail::throw_error(errc::type, "the object is of another type than the pointer says");
    }
    if (size < size_min) {
      detail::throw_error(errc::range, "the object is smaller than the pointer's type");
    }
  }

  void forget() noexcept { map_ = &detail::no_mapping; }

  void swap(pool& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(state_, other.state_);
  }

  std::unique_ptr<detail::mapping> state_;
};

inline scute::report pool::check(bool repair, const finding_function& finding,
                                 const progress_function& progress) const {
  struct callbacks
      : detail::progress_call {  // the C interface passes one argument to both callbacks
    const finding_function* found;

    static void find(void* arg, const char* what, std::uint64_t offset, std::uint64_t length,
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

}  // namespace scute

template <>
inline constexpr bool scute::process_bound<scute::pool> = true;

#endif
