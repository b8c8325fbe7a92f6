//! What the compiler says to mistakes in a tool: the cases are in `cases/`.
