// SPDX-License-Identifier: BSD-3-Clause
//
// codec.hpp: how objects become bytes. Part of <scute/pow.hpp>.
//
// A type that is trivially copyable and holds no addresses is written as it is (scute/storable.hpp;
// use pow::ref<T> for links). Any other type says how, by a specialisation:
//
//   template <> struct scute::pow::codec<account> {
//     static void encode(const account& a, scute::pow::bytes_out& out) { out.put(a.name);
//     out.put(a.balance); } static void decode(account& a, scute::pow::bytes_in& in) {
//     in.get(a.name); in.get(a.balance); }
//   };
//
// std::string and std::vector of such types have one. A type with a codec gets a name (SCUTE_TYPE):
// without one a store cannot tell it from another type (scute/pow/identity.hpp). decode() reads all
// that encode() has written: bytes that are left over, or missing, are error(errc::type).
#ifndef SCUTE_POW_CODEC_HPP
#define SCUTE_POW_CODEC_HPP

#include <scute/error.hpp>
#include <scute/storable.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace scute::pow {

class bytes_out;
class bytes_in;

/// How a T becomes bytes: static encode(const T&, bytes_out&) and decode(T&, bytes_in&).
template <class T>
struct codec;

namespace detail {
template <class T>
concept has_codec = requires(const T& from, T& to, bytes_out& out, bytes_in& in) {
  codec<T>::encode(from, out);
  codec<T>::decode(to, in);
};

/// One question at a time, so that the compiler says which rule was broken.
template <class T>
consteval void require_writable() {
  if constexpr (!has_codec<T>) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "scute: a type in a persist-on-write store must be trivially copyable, or have a "
                  "scute::pow::codec");
    if constexpr (std::is_trivially_copyable_v<T>)
      static_assert(!scute::detail::addresses_inside<T>(),
                    "scute: a type in a persist-on-write store must not hold raw pointers, "
                    "references or views: they mean nothing in the next process; use "
                    "scute::pow::ref<T>, or give it a scute::pow::codec");
  }
}
/// All its objects have sizeof(T) bytes.
template <class T>
inline constexpr bool is_plain = !has_codec<T> && std::is_trivially_copyable_v<T>;
}  // namespace detail

/// Collects the bytes of one object. More than max_bytes throw error(errc::range): no segment has
/// room for them.
class bytes_out {
 public:
  static constexpr size_t max_bytes = size_t{1} << 30;
  void write(const void* p, size_t n) {
    if (n > max_bytes - bytes_.size())
      scute::detail::throw_error(errc::range,
                                 "an object takes more than 1 GiB, and no segment has room for it; "
                                 "divide it into several objects");
    bytes_.append(static_cast<const char*>(p), n);
  }
  /// The number of elements that follow, in 4 bytes.
  void put_count(uint64_t n) {
    if (n > UINT32_MAX)
      scute::detail::throw_error(errc::range,
                                 "a string or vector of 2^32 elements or more cannot be stored in "
                                 "one object; divide it into several objects");
    const auto count = static_cast<uint32_t>(n);
    write(&count, sizeof count);
  }
  template <class T>
  void put(const T& x) {
    detail::require_writable<T>();
    if constexpr (detail::has_codec<T>)
      codec<T>::encode(x, *this);
    else
      write(&x, sizeof x);
  }
  const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::string bytes_;
};

/// The bytes of one object. Reading more than there are throws error(errc::type): their checksum
/// was right, so they were written as another type.
class bytes_in {
 public:
  bytes_in(const void* p, size_t n) noexcept : at_(static_cast<const char*>(p)), left_(n) {}
  size_t left() const noexcept { return left_; }
  void read(void* to, size_t n) {
    if (n > left_)
      scute::detail::throw_error(errc::type,
                                 "an object in the file is shorter than its type says: it was "
                                 "written as another type");
    if (n != 0) std::memcpy(to, at_, n);
    at_ += n;
    left_ -= n;
  }
  template <class T>
  void get(T& x) {
    detail::require_writable<T>();
    if constexpr (detail::has_codec<T>)
      codec<T>::decode(x, *this);
    else
      read(&x, sizeof x);
  }

 private:
  const char* at_;
  size_t left_;
};

template <>
struct codec<std::string> {
  static void encode(const std::string& s, bytes_out& out) {
    out.put_count(s.size());
    out.write(s.data(), s.size());
  }
  static void decode(std::string& s, bytes_in& in) {
    uint32_t n = 0;
    in.read(&n, sizeof n);
    if (n > in.left())
      scute::detail::throw_error(errc::type,
                                 "a string in the file is longer than its object: it was written "
                                 "as another type");
    s.resize(n);
    in.read(s.data(), n);
  }
};

template <class T>
struct codec<std::vector<T>> {
  static void encode(const std::vector<T>& v, bytes_out& out) {
    out.put_count(v.size());
    for (const T& x : v) out.put(x);
  }
  static void decode(std::vector<T>& v, bytes_in& in) {
    uint32_t n = 0;
    in.read(&n, sizeof n);
    v.clear();
    for (uint32_t i = 0; i < n; ++i) in.get(v.emplace_back());
  }
};

}  // namespace scute::pow

#endif
