/* titan ABI, part 1: the rules every other header follows.
 *
 * Struct rule. The first member of every growable struct is `uint32_t struct_size`, set by whoever fills the struct.
 * Fields are appended only; a reader accepts any size at least the first release's, and reads a later field only under
 * TITAN_HAS. Testing a size for equality is forbidden. Growable structs never stand in arrays by value.
 * Integers have fixed width; enumerations are int32_t with named constants; callbacks take their context first.
 *
 * Strings are UTF-8, not terminated, and borrowed for the call unless a function says otherwise.
 *
 * Errors. A fallible function returns NULL on success, else an error object made and freed by the host. No C++
 * exception crosses a function of this ABI, in either direction.
 *
 * The ABI is 0.x: layouts may change between minors until it is declared stable.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TITAN_ABI_MAJOR 0
#define TITAN_ABI_MINOR 5

/* True when the producer of *p knew `field`. */
#define TITAN_HAS(p, field) \
  ((size_t)((const char*)&(p)->field - (const char*)(p)) + sizeof((p)->field) <= (size_t)(p)->struct_size)

#ifdef __cplusplus
extern "C" {
#endif

/* UTF-8 bytes. data == NULL means "absent", which differs from an empty string. Frozen: never grows. */
typedef struct titan_string {
  const char* data;
  uint64_t size;
} titan_string;

/* Owned by the host. Whoever receives one either returns it to its own caller or frees it with error_release. */
typedef struct titan_error titan_error;

/* Error codes. The numbers are the exit codes of the program (sysexits.h where one fits). */
enum {
  TITAN_ERROR_USAGE = 64,         /* malformed or unknown command-line flag */
  TITAN_ERROR_DATA = 65,          /* a data set, tokenizer or checkpoint has bad content */
  TITAN_ERROR_NO_INPUT = 66,      /* a named file or plugin does not exist or cannot be read */
  TITAN_ERROR_UNAVAILABLE = 69,   /* a peer is lost, or a deadline passed */
  TITAN_ERROR_INTERNAL = 70,      /* our mistake, or a plugin broke the contract */
  TITAN_ERROR_RESOURCE = 71,      /* out of memory or another system resource */
  TITAN_ERROR_CANNOT_CREATE = 73, /* an output cannot be created, or is locked */
  TITAN_ERROR_IO = 74,            /* reading or writing failed */
  TITAN_ERROR_STOPPED = 75,       /* stopped on request, checkpoint committed */
  TITAN_ERROR_ABI = 76,           /* a plugin does not fit this host */
  TITAN_ERROR_TRUST = 77,         /* refused: provenance of a file */
  TITAN_ERROR_CONFIG = 78,        /* a configuration value is wrong */
  TITAN_ERROR_NON_FINITE = 80,    /* loss or gradient norm is NaN or infinite */
  TITAN_ERROR_QUIT = 130          /* somebody at a prompt ends the run, as with Ctrl-C */
};

/* Log levels of titan_host.log. */
enum { TITAN_LOG_DEBUG = 0, TITAN_LOG_INFO = 1, TITAN_LOG_WARNING = 2, TITAN_LOG_ERROR = 3 };

#ifdef __cplusplus
}
#endif
