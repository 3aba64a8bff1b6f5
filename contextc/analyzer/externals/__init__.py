"""What lies outside the repository: typeshed, the declared environment's packages, and jedi's word on their values."""
