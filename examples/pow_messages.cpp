// SPDX-License-Identifier: BSD-3-Clause
//
// pow_messages: objects that write themselves field by field, as protocol buffers do. A program of
// today reads what one of tomorrow has written, and keeps the fields that it does not know when it
// writes the object again.
//
//   pow_messages FILE
//
// A field is its number and a length, both in seven bits per byte, and then bytes. With generated
// classes the two functions of the codec call SerializeToString() and ParseFromArray() instead.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include <scute/pow.hpp>

namespace pow = scute::pow;

namespace {

using fields = std::map<uint64_t, std::string>;  // those that this program does not know

struct user {  // today's
  static constexpr std::string_view scute_type = "user";
  std::string name;
  uint64_t visits = 0;
  fields others;
};
struct later_user {  // tomorrow's: it has a city
  static constexpr std::string_view scute_type = "user";
  std::string name, city;
  uint64_t visits = 0;
  fields others;
};

void put_number(std::string& to, uint64_t n) {
  for (; n >= 128; n >>= 7) to += static_cast<char>(n | 128);
  to += static_cast<char>(n);
}
void put_field(std::string& to, uint64_t number, const std::string& bytes) {
  put_number(to, number);
  put_number(to, bytes.size());
  to += bytes;
}
std::string bytes_of(uint64_t n) {
  std::string s;
  put_number(s, n);
  return s;
}

uint64_t get_number(pow::bytes_in& in) {
  uint64_t n = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    unsigned char byte = 0;
    in.read(&byte, 1);
    n |= uint64_t{byte & 127U} << shift;
    if (byte < 128) break;
  }
  return n;
}
uint64_t number_of(const std::string& bytes) {
  pow::bytes_in in(bytes.data(), bytes.size());
  return get_number(in);
}
// Calls known(number, bytes); the fields that it does not take go to `others`.
template <typename Known>
void get_fields(pow::bytes_in& in, fields& others, Known&& known) {
  others.clear();
  while (in.left() != 0) {
    const uint64_t number = get_number(in), size = get_number(in);
    if (size > in.left()) throw std::runtime_error("a field is longer than its object");
    std::string bytes(size, '\0');
    in.read(bytes.data(), size);
    if (!known(number, bytes)) others[number] = bytes;
  }
}

}  // namespace

template <>
struct scute::pow::codec<user> {
  static void encode(const user& u, bytes_out& out) {
    std::string s;
    put_field(s, 1, u.name);
    put_field(s, 2, bytes_of(u.visits));
    for (const auto& [number, bytes] : u.others) put_field(s, number, bytes);
    out.write(s.data(), s.size());
  }
  static void decode(user& u, bytes_in& in) {
    get_fields(in, u.others, [&](uint64_t number, const std::string& bytes) {
      if (number == 1) u.name = bytes;
      if (number == 2) u.visits = number_of(bytes);
      return number <= 2;
    });
  }
};
template <>
struct scute::pow::codec<later_user> {
  static void encode(const later_user& u, bytes_out& out) {
    std::string s;
    put_field(s, 1, u.name);
    put_field(s, 2, bytes_of(u.visits));
    put_field(s, 3, u.city);
    for (const auto& [number, bytes] : u.others) put_field(s, number, bytes);
    out.write(s.data(), s.size());
  }
  static void decode(later_user& u, bytes_in& in) {
    get_fields(in, u.others, [&](uint64_t number, const std::string& bytes) {
      if (number == 1) u.name = bytes;
      if (number == 2) u.visits = number_of(bytes);
      if (number == 3) u.city = bytes;
      return number <= 3;
    });
  }
};

namespace {

// One run of a program: makes its only user, or finds it, and changes it.
template <typename User>
std::string run(const char* path, void (*change)(User&)) {
  pow::store db(path);
  pow::table<User> users(db, "users");
  std::mutex mutex;
  std::string text;
  auto s = db.section(mutex);
  if (users.size() == 0) users.make();
  pow::ref<User> first;
  users.for_each([&](pow::ref<User> r, const User&) { first = r; });
  change(users.edit(first));
  s.commit();
  users.for_each([&](pow::ref<User>, const User& u) {
    text += u.name + " " + std::to_string(u.visits) + " " + std::to_string(u.others.size());
  });
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pow_messages FILE\n");
    return 2;
  }
  try {
    const auto today = [](user& u) {
      u.name = "ann";
      ++u.visits;
    };
    const auto tomorrow = [](later_user& u) {
      if (u.city.empty()) u.city = "Ulm";
      ++u.visits;
    };
    std::printf("%s\n", run<user>(argv[1], today).c_str());
    std::printf("%s\n", run<later_user>(argv[1], tomorrow).c_str());
    // Today's program does not know the city, and leaves it where it is.
    const std::string known = run<user>(argv[1], today);
    std::printf("%s field that is not known here\n", known.c_str());
    run<later_user>(argv[1], [](later_user& u) {
      if (u.city != "Ulm") throw std::runtime_error("the city is gone");
    });
    return known == "ann 3 1" ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "pow_messages: %s\n", e.what());
    return 1;
  }
}
