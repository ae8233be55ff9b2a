"""How is it tested without a device or a clock? Public fakes: kernels that are wrong in known ways (`wrong`)."""
