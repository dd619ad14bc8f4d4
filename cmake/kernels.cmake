# The hot kernels (src/backend/kernels_*.c) are one source compiled once per instruction set; backend.c
# chooses among them at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(src/backend/kernels_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  set_source_files_properties(src/backend/kernels_avx512.c PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mfma;-mf16c;-mprefer-vector-width=512")
  set_source_files_properties(src/backend/backend.c PROPERTIES
    COMPILE_DEFINITIONS "PL_HAVE_AVX2;PL_HAVE_AVX512")
endif()
# Vectors wider than the processor's registers, which never leave the file. Whole kernels of them take
# minutes to optimise.
set_source_files_properties(tests/test_backend_simd_wide.c PROPERTIES COMPILE_OPTIONS "-Wno-psabi")
set_source_files_properties(tests/test_elastic_kernels.c PROPERTIES COMPILE_OPTIONS "-Wno-psabi;-O1")
