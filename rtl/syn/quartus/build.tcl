# Untested: this script has not been run in Quartus, and no result in this repository is from it.
#
# Synthesizes, places and routes a top with virtual pins, and reports area and timing.
#
#     quartus_sh -t rtl/syn/quartus/build.tcl TOP [FAMILY] [DEVICE] [PERIOD] [PARAMETER=VALUE ...]
#
#   TOP        a file list of rtl/filelists, without .f, which is also its top module
#   FAMILY     default "Stratix IV", that of the 100 Gbit/s paper (Quartus II or Quartus Prime Standard; Quartus 11, used
#              by the paper, may not accept all of this SystemVerilog)
#   DEVICE     default EP4S100G5F45I1; the paper gives no speed grade
#   PERIOD     clock period in ns, default 4.0
#   PARAMETER  of the top module, such as DIRECTION=0; requires all preceding arguments
#
# The project and its reports go to target/quartus/TOP.

load_package flow

if {[llength $quartus(args)] < 1} {
    puts stderr "usage: ... TOP \[FAMILY\] \[DEVICE\] \[PERIOD\] \[PARAMETER=VALUE ...\]"
    exit 1
}
set top [lindex $quartus(args) 0]
set family [expr {[llength $quartus(args)] > 1 ? [lindex $quartus(args) 1] : "Stratix IV"}]
set device [expr {[llength $quartus(args)] > 2 ? [lindex $quartus(args) 2] : "EP4S100G5F45I1"}]
set period [expr {[llength $quartus(args)] > 3 ? [lindex $quartus(args) 3] : 4.0}]
set parameters [lrange $quartus(args) 4 end]

set rtl [file normalize [file join [file dirname [info script]] .. ..]]
set list_name [file join $rtl filelists $top.f]
if {![file exists $list_name]} {
    puts stderr "file list $list_name not found"
    exit 1
}
set out [file join [file dirname $rtl] target quartus $top]
file mkdir $out
cd $out

set constraints [open clock.sdc w]
puts $constraints "create_clock -name clk -period $period \[get_ports clk\]"
puts $constraints "derive_clock_uncertainty"
close $constraints

project_new $top -overwrite
set_global_assignment -name FAMILY $family
set_global_assignment -name DEVICE $device
set_global_assignment -name TOP_LEVEL_ENTITY $top
set_global_assignment -name SDC_FILE clock.sdc
set_global_assignment -name NUM_PARALLEL_PROCESSORS ALL

set list_file [open $list_name]
foreach source [read $list_file] {
    set_global_assignment -name SYSTEMVERILOG_FILE [file join $rtl $source]
}
close $list_file

foreach parameter $parameters {
    lassign [split $parameter =] name value
    set_parameter -name $name $value
}

# Out of context: only the clock has a pin.
set_instance_assignment -name VIRTUAL_PIN ON -to *
set_instance_assignment -name VIRTUAL_PIN OFF -to clk

export_assignments
execute_flow -compile
project_close
puts "reports: [file join $out $top.fit.summary] and [file join $out $top.sta.summary]"
