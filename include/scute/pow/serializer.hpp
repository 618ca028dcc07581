// SPDX-License-Identifier: BSD-3-Clause
//
// serializer.hpp: what the typed faces of a store have in common. Part of <scute/pow.hpp>.
#ifndef SCUTE_POW_SERIALIZER_HPP
#define SCUTE_POW_SERIALIZER_HPP

#include <scute/pow/codec.hpp>
#include <scute/pow/identity.hpp>
#include <scute/pow/store.hpp>

#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace scute::pow::detail {

inline uint64_t index_of(uint64_t id) noexcept {
  return id & SCUTE_POW_INDEX_MASK;
}

/// A member of a type that is neither copied nor moved.
struct unmoved {
  unmoved() = default;
  unmoved(const unmoved&) = delete;
  unmoved& operator=(const unmoved&) = delete;
};

/// A T as a face keeps it: it can be written, and an abort can restore it without failing.
template <class T>
consteval void require_kept() {
  require_writable<T>();
  static_assert(std::is_nothrow_move_assignable_v<T>,
                "scute: a type in a persist-on-write store must have a move assignment that is "
                "noexcept: an aborted section restores old values, and that must not fail");
}

/// Face has: void write(uint64_t index, bytes_out&), void found(uint64_t id, bytes_in&). size: of
/// plain objects; 0: they vary. A face must not move: the store has its address. Its destructor
/// calls close().
template <class Face>
class serializer {
 protected:
  ~serializer() = default;
  /// To be called when the face is made, as its last step.
  void open() { check(scute_pow_table_open(store_.get(), name_.c_str(), &k_, &table_)); }
  /// To be called before any part of the face is destroyed: rolls back what an open section of this
  /// thread has changed in it.
  void close() noexcept { scute_pow_table_close(std::exchange(table_, nullptr)); }

  scute_pow_section* here_or_throw() const {
    scute_pow_section* s = nullptr;
    check(scute_pow_current(store_.get(), &s));
    return s;
  }
  bool edit_object(scute_pow_section* s, uint64_t id) const {
    int first = 0;
    check(scute_pow_edit(s, table_, id, &first));
    return first != 0;
  }
  uint64_t new_object(scute_pow_section* s, uint64_t index = SCUTE_POW_ANY) const {
    uint64_t id = 0;
    check(scute_pow_new(s, table_, index, &id));
    return id;
  }
  /// The same, and then(id), without which there is no such object.
  template <class Then>
  uint64_t new_object(scute_pow_section* s, uint64_t index, Then&& then) const {
    const uint64_t id = new_object(s, index);
    or_take_back(s, id, [&] { then(id); });
    return id;
  }
  void erase_object(scute_pow_section* s, uint64_t id) const {
    check(scute_pow_erase(s, table_, id));
  }
  /// Called after edit_object() or erase_object(): on_abort(s, save(), back). If there is no memory
  /// for that, the object is unchanged, and the next edit is the first one again.
  template <class Save, class Back>
  void on_abort_of(scute_pow_section* s, uint64_t id, Save&& save, Back back) {
    or_take_back(s, id, [&] { on_abort(s, save(), back); });
  }
  /// Undo: back(face, saved) if the section aborts; saved is destroyed at its end in any case.
  template <class Saved, class Back>
  void on_abort(scute_pow_section* s, Saved saved, Back) {
    if constexpr (std::is_trivially_copyable_v<Saved> &&
                  alignof(Saved) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      return check(scute_pow_undo_copy(
          s,
          [](void* who, void* what) {
            Back{}(*static_cast<Face*>(who), *static_cast<Saved*>(what));
          },
          static_cast<Face*>(this), &saved, sizeof saved));
    else
      keep(s, std::move(saved), Back{});
  }

 private:
  friend Face;  // alone derives from a serializer of its own name
  template <class Fn>
  void or_take_back(scute_pow_section* s, uint64_t id, Fn&& fn) const {
    try {
      fn();
    } catch (...) {
      scute_pow_take_back(s, table_, id);
      throw;
    }
  }
  template <class Saved, class Back>
  void keep(scute_pow_section* s, Saved saved, Back) {
    auto kept = std::make_unique<Saved>(std::move(saved));
    check(scute_pow_undo(
        s,
        [](void* who, void* what) {
          const std::unique_ptr<Saved> mine(static_cast<Saved*>(what));
          Back{}(*static_cast<Face*>(who), *mine);
        },
        [](void*, void* what) { delete static_cast<Saved*>(what); }, static_cast<Face*>(this),
        kept.get()));
    static_cast<void>(kept.release());
  }

  /// recurs: ids are known to the face alone, which keeps none of erased objects.
  serializer(store& s, const std::string& name, const identity& what, uint32_t size, bool chooses,
             bool recurs = false)
      : store_(s.native_handle()), bytes_each_(size) {
    k_.struct_size = sizeof k_;
    k_.type = what.type;
    k_.size = size;
    k_.chooses_indexes = chooses;
    k_.ids_may_recur = recurs;
    earlier_ = what.earlier;
    k_.earlier_types = &earlier_;
    k_.earlier_count = what.earlier != what.type;
    k_.arg = static_cast<Face*>(this);
    k_.measure = [](void* arg, uint64_t index) noexcept -> int64_t {
      measured().of = nullptr;
      try {
        auto& f = *static_cast<Face*>(arg);
        out().clear();
        f.write(index, out());
        measured() = {arg, index};
        return static_cast<int64_t>(out().bytes().size());
      } catch (...) {
        thrown_by_codec = std::current_exception();
        return SCUTE_E_ABORTED;
      }
    };
    k_.write = [](void* arg, uint64_t index, void* to, uint32_t room) noexcept -> int {
      auto& f = *static_cast<Face*>(arg);
      if (f.bytes_each_ == 0) return f.write_measured(index, to, room);
      f.copy(index, to);
      return SCUTE_OK;
    };
    k_.load = [](void* arg, uint64_t id, const void* bytes, uint32_t n) noexcept -> int {
      try {
        bytes_in in(bytes, n);
        static_cast<Face*>(arg)->found(id, in);
        if (in.left() != 0)
          scute::detail::throw_error(errc::type,
                                     "an object in the file is longer than its type says: it was "
                                     "written as another type");
        return 0;
      } catch (...) {
        thrown_by_codec = std::current_exception();
        return SCUTE_E_ABORTED;
      }
    };
    name_ = name;
  }
  [[gnu::noinline]] int write_measured(uint64_t index, void* to, uint32_t room) noexcept {
    try {
      auto& f = static_cast<Face&>(*this);
      void* const me = &f;
      // The bytes are still there, unless another object was measured meanwhile.
      const auto last = std::exchange(measured(), {});
      if (last.of != me || last.index != index) {
        out().clear();
        f.write(index, out());
      }
      const std::string& bytes = out().bytes();
      if (bytes.size() != room)
        scute::detail::throw_error(
            errc::invalid,
            ("a codec of table " + name_ + " has made " + std::to_string(room) +
             " bytes of an object, and then " + std::to_string(bytes.size()) +
             ": it must make the same bytes each time until the object is edited again")
                .c_str());
      std::memcpy(to, bytes.data(), bytes.size());
      return SCUTE_OK;
    } catch (...) {
      thrown_by_codec = std::current_exception();
      return SCUTE_E_ABORTED;
    }
  }
  struct measure_note {
    void* of = nullptr;
    uint64_t index = 0;
  };
  // The object whose bytes out() has; null: unknown.
  static measure_note& measured() {
    static thread_local measure_note one;
    return one;
  }
  static bytes_out& out() {
    static thread_local bytes_out one;
    return one;
  }
  kept_store store_;
  scute_pow_table* table_ = nullptr;
  uint32_t bytes_each_;  // 0: they vary
  uint32_t earlier_ = 0;
  scute_pow_serializer k_{};
  std::string name_;
  [[no_unique_address]] unmoved here_;
};

}  // namespace scute::pow::detail

#endif
