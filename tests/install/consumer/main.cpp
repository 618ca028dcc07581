// An outside C++ program: what main.c does, through the C++ headers.
#if __has_include(<scute/scute.hpp>)
#include <scute/scute.hpp>
#else
#include <scute/scute.h>
#endif

#include <cstdint>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void check(int result, const char* what) {
  if (result != SCUTE_OK) throw std::runtime_error(std::string(what) + ": " + scute_errormsg());
}

void use(const char* path) {
  scute_options options;
  scute_options_init(&options);
  options.size = uint64_t{16} << 20;
  scute_pool* pool = nullptr;
  check(scute_create(path, &options, &pool), "create");
  scute_oid root = SCUTE_OID_NULL;
  check(scute_root(pool, 64, 1, &root), "root");
  scute_tx* tx = nullptr;
  check(scute_tx_begin(pool, &tx), "begin");
  void* bytes = nullptr;
  check(scute_tx_open(tx, root, &bytes), "tx open");
  std::strcpy(static_cast<char*>(bytes), "kept");
  check(scute_tx_commit(tx), "commit");
  const void* stored = nullptr;
  check(scute_get_verified(pool, root, &stored), "get");
  if (std::strcmp(static_cast<const char*>(stored), "kept") != 0) {
    throw std::runtime_error("the object was not kept");
  }
  check(scute_close(pool), "close");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " POOL\n";
    return 2;
  }
  try {
    use(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  std::cout << scute_version() << '\n';
}
