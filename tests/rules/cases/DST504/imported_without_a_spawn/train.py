from restore import restore

restore()
