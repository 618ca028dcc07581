// SPDX-License-Identifier: BSD-3-Clause
//
// codec.hpp: how objects become bytes. Part of <scute/pow.hpp>.
//
// A type that is trivially copyable and holds no addresses is written as it is (scute/storable.hpp; use pow::ref<T> for
// links). Any other type says how, by a specialisation:
//
//   template <> struct scute::pow::codec<account> {
//     static void encode(const account& a, scute::pow::bytes_out& out) { out.put(a.name); out.put(a.balance); }
//     static void decode(account& a, scute::pow::bytes_in& in) { in.get(a.name); in.get(a.balance); }
//   };
//
// std::string and std::vector of such types have one.
#ifndef SCUTE_POW_CODEC_HPP
#define SCUTE_POW_CODEC_HPP

#include <scute/error.hpp>
#include <scute/storable.hpp>
#include <scute/type_number.hpp>

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
/// What is stored to tell types apart (scute/type_number.hpp): built-in types, strings and vectors have a number here, too.
template <class T>
inline constexpr uint32_t element_number = type_number<T>;
template <class T>
  requires(std::is_arithmetic_v<T> && type_number<T> == 0)
inline constexpr uint32_t element_number<T> = type_hash(std::is_floating_point_v<T> ? "float"
                                                        : std::is_signed_v<T>       ? "signed"
                                                                                    : "unsigned") +
                                              sizeof(T);
template <>
inline constexpr uint32_t element_number<std::string> = type_hash("string");
template <class T>
inline constexpr uint32_t element_number<std::vector<T>> =
    type_hash("vector") ^ element_number<T> * 31;

/// All its objects have sizeof(T) bytes.
template <class T>
inline constexpr bool is_plain = !has_codec<T> && std::is_trivially_copyable_v<T>;
}  // namespace detail

/// Collects the bytes of one object.
class bytes_out {
 public:
  void write(const void* p, size_t n) { bytes_.append(static_cast<const char*>(p), n); }
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

/// The bytes of one object. Reading more than there are throws error(errc::corrupt).
class bytes_in {
 public:
  bytes_in(const void* p, size_t n) noexcept : at_(static_cast<const char*>(p)), left_(n) {}
  size_t left() const noexcept { return left_; }
  void read(void* to, size_t n) {
    if (n > left_)
      scute::detail::throw_error(errc::corrupt,
                                 "an object in the file is shorter than its type says");
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
    const auto n = static_cast<uint32_t>(s.size());
    out.write(&n, sizeof n);
    out.write(s.data(), n);
  }
  static void decode(std::string& s, bytes_in& in) {
    uint32_t n = 0;
    in.read(&n, sizeof n);
    if (n > in.left())
      scute::detail::throw_error(errc::corrupt, "a string in the file is longer than its object");
    s.resize(n);
    in.read(s.data(), n);
  }
};

template <class T>
struct codec<std::vector<T>> {
  static void encode(const std::vector<T>& v, bytes_out& out) {
    const auto n = static_cast<uint32_t>(v.size());
    out.write(&n, sizeof n);
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
