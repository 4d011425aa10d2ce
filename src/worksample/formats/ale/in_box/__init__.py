"""Programs and modules that packages of ALE find in their box. Only the standard library is imported here."""
